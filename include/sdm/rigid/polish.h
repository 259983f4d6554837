#pragma once

#include <vector>

#include "sdm/base/types.h"
#include "sdm/image/image_view.h"
#include "sdm/rigid/canvas.h"

namespace sdm::rigid {

/// The template's own pixels on a raster, as the tracker's window shows them, and their slopes.
struct PixelTemplate {
  Canvas canvas;                           // its HoG's cells are what gets a weight
  Vector<float> pixels, slope_u, slope_v;  // row by row; grey levels, and per template unit

  bool known() const { return pixels.size() > 0; }
};

/// Needs: what FrameWindow shows of the template's own frame, and the warp that leads there.
PixelTemplate make_pixel_template(image::ByteView view, const Warp& warp, const Canvas& canvas);

/// What is left to the last fraction of a pixel after the maps: Gauss-Newton on the pixels, inverse
/// compositional (Baker and Matthews), so that slopes and Hessian are the template's and made once.
///
/// With each step the light is solved for, seen = (1 + a) t + b + c u + d v, and each cell has a
/// weight from its residual (Geman and McClure), so that what covers a part of the template does
/// not pull at the rest. The Hessian is the weighted sum of the cells' own.
///
/// One object serves one thread. Nothing is allocated after construction.
class Polisher {
 public:
  Polisher(const PixelTemplate& target, Motion motion);

  /// The correction c that makes `start` o c the better warp, at most a few template units; the
  /// identity where the pixels do not lead anywhere. Needs: the view that the warp leads to.
  Warp operator()(image::ByteView view, const Warp& start);

  /// Sees what is there, without a step.
  void look(image::ByteView view, const Warp& warp);

  /// Of what was seen last: how well each block of cells correlates with the template
  /// (-1 to 1), and the share of the template's contrast that the block has. The caller may put
  /// them into another order.
  struct Block {
    float correlation = 0, share = 0;
  };
  std::vector<Block>& blocks();
  /// Of each cell, row by row, 0 to 1, as the last call left them.
  const Vector<float>& weights() const { return weights_; }

 private:
  void weigh();

  const Canvas canvas_;
  const Motion motion_;
  int columns_, rows_;
  Vector<float> target_, seen_, residual_;
  std::vector<int> cell_;                    // of each pixel
  Eigen::MatrixXf jacobian_, cell_hessian_;  // a column: steepest descent image; a cell's Hessian
  Vector<float> size_, contrast_;            // of each cell: pixels, mean square slope
  Vector<float> error_, sorted_, weights_, hessian_;
  std::vector<Block> blocks_;
  Eigen::MatrixXd sums_;  // of each block
};

}  // namespace sdm::rigid
