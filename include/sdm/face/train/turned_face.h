#pragma once

#include <vector>

#include "sdm/face/shape.h"
#include "sdm/image/image_view.h"
#include "sdm/pose/head_pose.h"

namespace sdm::face {

/// A labelled face as it would look if the head were turned.
struct TurnedFace {
  image::Image<std::uint8_t> picture;  // of the same size
  Shape points;                        // NaN where the point was not known
  /// Whether the head hides the point. A hidden point of the outline is where the visible outline
  /// is instead: that is how people label a jaw.
  std::vector<bool> hidden;
};

/// A detector's box about the points `before`, as one might lie about the points `after`: moved as
/// their mean is, its size the same. Needs the same points known in both.
Box moved(const Box& box, const Shape& before, const Shape& after);

/// Draws labelled faces turned in space ("face profiling", Zhu et al., CVPR 2016), to train on and
/// to measure by.
///
/// The head is a surface over the learned 3D points: across its width an ellipse, so that it falls
/// away steeply at the outline as heads do, moved to the points by a smooth correction. Each face
/// bends that surface until its picture is where the labels are; depths stay those of the learned
/// shape. Around the head the background stretches, and farther off it stays as it is. The
/// surface is textured with the picture, turned, and drawn with a depth buffer.
///
/// What the photograph does not show is not invented: a face that looks to one side can be turned
/// farther to that side, but its far side is smeared when it is turned back.
class FaceTurner {
 public:
  /// `shape3d` and `weights` as a Model has them (pose/train/rigid_shape.h), the weights may be
  /// empty; `outline` are the points that label a visible contour (the jaw), if there are any.
  /// Throws Error: points that are no solid shape, a number in `outline` that names no point.
  explicit FaceTurner(const Eigen::Matrix3Xf& shape3d, const Vector<float>& weights = {},
                      std::vector<int> outline = {});

  /// Throws Error: another number of points, or points that tell no pose. Thread-safe.
  pose::HeadPose pose(const Shape& points) const;

  /// The face with `yaw` and `pitch` degrees added to its own (head_pose.h has the signs). The mean
  /// of the points stays where it is, and so does the size. Throws Error: an empty picture, what
  /// pose() throws, or a turn to a yaw or pitch beyond 85 degrees. Thread-safe.
  TurnedFace turn(image::ByteView grey, const Shape& points, double yaw, double pitch) const;

 private:
  struct Surface;

  Eigen::Vector3d at(const Surface& surface, const Eigen::Vector2d& where) const;
  Eigen::VectorXd near(const Eigen::Vector2d& where) const;
  double radius(const Eigen::Vector2d& where) const;
  Eigen::VectorXd base(const Eigen::Vector2d& where) const;
  double depth(const Eigen::Vector2d& where) const;

  pose::Points3 shape_;
  pose::HeadPoseEstimator estimator_;
  std::vector<int> outline_;
  // The head's ellipse about (0, middle_) and the range of heights that have points.
  double half_width_ = 1, half_height_ = 1, middle_ = 0, top_ = 0, bottom_ = 0;
  Eigen::VectorXd base_weights_, depth_weights_;
  Eigen::MatrixXd correction_;  // from what points lack to the weights of `near`
  // The mesh: its places, depths and corrections, all faces' alike.
  Index columns_ = 0, rows_ = 0;
  Eigen::Matrix2Xd places_;
  Eigen::VectorXd depths_, radii_;
  Eigen::MatrixXd near_;  // points x places
};

}  // namespace sdm::face
