#pragma once

#include <vector>

#include "sdm/base/types.h"
#include "sdm/image/image_view.h"
#include "sdm/rigid/canvas.h"
#include "sdm/rigid/frame_window.h"

namespace sdm::rigid {

/// The two classic ways of min_p |d(f(x, p)) - t(x)|^2 over pixels.
///   forward_additive       the paper's, Delta p = H_k^-1 (dd/df df/dp_k)^T (t - d(f(x, p_k))):
///                          gradients of the frame, H_k anew in every iteration, p += Delta p
///   inverse_compositional  Baker and Matthews': gradients and H of the template, once;
///                          the update is inverted and composed
enum class LucasKanadeKind { forward_additive, inverse_compositional };

struct LucasKanadeOptions {
  LucasKanadeKind kind = LucasKanadeKind::forward_additive;
  Motion motion = Motion::affine;  ///< affine or homography
  int iterations = 20;

  /// Throws Error naming the option that makes no sense.
  void validate() const;
};

/// Lucas-Kanade on the same template raster as the tracker (a pixel a unit): the baseline.
/// One object serves one thread; nothing is learned.
class LucasKanade {
 public:
  /// Throws Error on a bad region (see shape_of).
  LucasKanade(image::ByteView frame, const Quad& region, const LucasKanadeOptions& options = {});

  /// The template's warp in this frame, from the last one on. Not finite where it diverged; it then
  /// stays so until `restart`.
  Warp update(image::ByteView frame);
  void restart(const Warp& warp) { warp_ = warp; }

  const Warp& warp() const { return warp_; }
  const TemplateShape& shape() const { return shape_; }

 private:
  Warp align_forward(const Warp& start);
  Warp align_inverse(const Warp& start);

  LucasKanadeOptions options_;
  TemplateShape shape_;
  Canvas canvas_;
  FrameWindow window_;
  Warp warp_;
  image::Image<float> target_, seen_;
  Eigen::ArrayXf u_, v_;                       // template coordinates of the pixels
  Eigen::MatrixXf jacobian_;                   // steepest-descent images, one a column
  Eigen::MatrixXd hessian_;                    // of the template, for the inverse way
  std::vector<float> part_, part_x_, part_y_;  // the frame around the template and its gradients
};

}  // namespace sdm::rigid
