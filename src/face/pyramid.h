#pragma once

#include <cstdint>
#include <vector>

#include "sdm/face/similarity.h"
#include "sdm/image/cell_grid.h"

namespace sdm::face {

/// The windows that a pyramid shows: so many cells of so many units of the face, centred on it.
struct WindowShape {
  int columns = 10, rows = 10;
  float cell = 0.2F;
};

/// The cells of a picture at one size after the other, the smallest windows first. Between whole
/// powers of two the picture is not resampled: the cells have 4, 5, 6 or 7 pixels instead (2 and 3
/// as well at its full size, where it may not be doubled), so neighbouring sizes are at most a
/// fourth apart. Allocates nothing after the first picture of a size.
class Pyramid {
 public:
  /// Cells around the picture: windows may reach this far out.
  static constexpr int kMargin = 3;

  /// Windows of about `smallest` to `largest` pixels a row of cells; a picture with a longer side
  /// than max_side is halved until it has none, and its smallest windows are not seen. The picture
  /// must stay until the last level. `doubled` lets windows whose cells would have 2 or 3 pixels be
  /// seen in a picture of twice the size, which finds more, unless that has a longer side than
  /// max_side. Throws Error on an empty picture.
  void start(image::ByteView grey, const WindowShape& shape, float smallest, float largest,
             int max_side, bool doubled = false);

  /// On to the next level; false after the last one.
  bool next();

  const image::CellGrid& grid() const { return grid_; }
  /// How many windows lie side by side, and one below the other.
  int columns() const { return grid_.columns() - shape_.columns + 1; }
  int rows() const { return grid_.rows() - shape_.rows + 1; }
  /// The upright face in the window at (x, y).
  Similarity place(int x, int y) const;

 private:
  bool fits(image::ByteView picture, int cell) const;
  void halve();
  void double_size();

  WindowShape shape_;
  float largest_ = 0;
  image::ByteView whole_, now_;  // the picture, and at this factor
  float factor_ = 1;             // a power of two
  int cell_ = 1;
  bool is_done_ = true;
  std::vector<std::uint8_t> halves_[2], doubled_;
  int turn_ = 0;
  image::CellGrid grid_;
};

}  // namespace sdm::face
