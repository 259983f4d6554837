#pragma once

#include <Eigen/Cholesky>
#include <vector>

#include "sdm/base/types.h"
#include "sdm/image/image_view.h"
#include "sdm/rigid/canvas.h"

namespace sdm::rigid {

/// The template's own pixels on a raster, as the tracker's window shows them, row by row.
struct PixelTemplate {
  Canvas canvas;                           // its HoG's cells are what gets a weight
  Vector<float> pixels, slope_u, slope_v;  // grey levels, and per template unit
  Matrix<float> blurs;  // what motion blur along each of kBlurs directions adds, a column each

  static constexpr int kBlurs = 4;

  bool known() const { return pixels.size() > 0; }
};

/// Needs: what FrameWindow shows of the template's own frame, and the warp that leads there.
PixelTemplate make_pixel_template(image::ByteView view, const Warp& warp, const Canvas& canvas);

/// What is left to the last fraction of a pixel after the maps: Gauss-Newton on the pixels, inverse
/// compositional (Baker and Matthews), so that slopes and Hessian are the template's and made once.
///
/// With each step the light and the blur are solved for, seen = (1 + a) t + b + c u + d v + sum_k
/// e_k (blur_k t - t). Where a part may be covered each cell has a weight from its residual (Geman
/// and McClure), so that what covers it does not pull at the rest; the Hessian is then the weighted
/// sum of the cells' own.
///
/// One object serves one thread. Nothing is allocated after construction.
class Polisher {
 public:
  Polisher(const PixelTemplate& target, Motion motion);

  /// The correction c that makes `start` o c the better warp, at most a few template units; the
  /// identity where the pixels do not lead anywhere. Needs: the view that the warp leads to.
  /// `covered`: a part may be covered, so each cell has a weight, found before the first step; else
  /// all count alike, and the weights are only told afterwards (`covered()`).
  Warp operator()(image::ByteView view, const Warp& start, bool covered = false);

  /// Sees what is there, without a step.
  void look(image::ByteView view, const Warp& warp);

  /// Of what was seen last: how well each block of cells correlates with the template
  /// (-1 to 1), and the share of the template's contrast that the block has. The caller may put
  /// them into another order.
  struct Block {
    float correlation = 0, share = 0;
  };
  std::vector<Block>& blocks();
  /// Of what was seen last: how far parts of the template have moved against the whole, in template
  /// units. Blocks of cells that make up a quarter of the contrast are at least so far off.
  double bend();

  /// Of what was seen last: the share of the contrast whose cells show something else, not just the
  /// template a little way off, as a bent or tilted one does.
  double foreign() const;

  /// How far, in template units at the corners, noise of this deviation (grey levels, of the
  /// window's pixels) moves the template the way that it tells least: large where it is plain, or
  /// where all edges have one direction.
  double uncertainty(double noise) const;

  /// The share of the cells that showed something else to the last call.
  double covered() const;

 private:
  static constexpr Index kMostUnknowns = 8 + 4 + PixelTemplate::kBlurs;  // motion, light, blur
  using Square =
      Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostUnknowns, kMostUnknowns>;
  using Side = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostUnknowns, 1>;

  void weigh();
  void solve();
  void solve_evenly();
  Square normal_matrix() const;

  Canvas canvas_;
  Motion motion_;
  int columns_, rows_;
  Vector<float> target_, seen_, residual_, rest_;
  std::vector<int> cell_of_column_, cell_of_row_;
  Eigen::MatrixXf jacobian_,
      cell_hessian_;  // a column: steepest descent image; lower triangle of a cell's Hessian
  Vector<float> size_, contrast_;  // of each cell: pixels, mean square slope
  Vector<float> error_, sorted_, weights_, hessian_, slope_;
  Vector<float> unknowns_;  // the last step
  Eigen::LLT<Square> even_;
  std::vector<Block> blocks_;
  Eigen::MatrixXf sums_;  // of each block
};

}  // namespace sdm::rigid
