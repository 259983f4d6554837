#pragma once

#include <cstdint>
#include <vector>

#include "sdm/image/gradient_channels.h"
#include "sdm/image/image_view.h"

namespace sdm::image {

/// The orientation cells of a whole picture in whole numbers, for templates that are scanned over
/// it: rows of cells, kBins values of 0..255 each, with a margin of empty cells all around.
///
/// A cell holds the votes of GradientChannels over `cell` x `cell` pixels, divided by the root of
/// the sum of squares over the 3 x 3 cells around it and cut at a fifth (l2_hys), which is 255.
/// What is left of the picture at its right and lower border is no cell.
///
/// It grows to the largest picture it has seen and then allocates nothing. One object per thread.
class CellGrid {
 public:
  static constexpr int kMaxCell = 8;  ///< px; on larger cells the sums would leave 16 bits
  static constexpr int kMaxMargin = 64;
  static constexpr int kPast = 16;  ///< values past the last cell that may be read

  int columns() const { return columns_; }  ///< with the margins, as are the rows
  int rows() const { return rows_; }
  /// From a row to the next one, in values.
  std::ptrdiff_t stride() const { return std::ptrdiff_t(columns_) * kBins; }
  const std::int16_t* row(int y) const { return values_.data() + y * stride(); }
  const std::int16_t* at(int x, int y) const { return row(y) + std::ptrdiff_t(x) * kBins; }

  /// Takes a size; everything is 0.
  void reset(int columns, int rows);
  std::int16_t* row(int y) { return values_.data() + y * stride(); }
  /// Room for what a kernel needs on its way, grown to this size.
  std::uint8_t* bytes(std::size_t size);
  std::int16_t* sums(std::size_t size);
  float* energies(std::size_t size);

 private:
  int columns_ = 0;
  int rows_ = 0;
  std::vector<std::int16_t> values_, sums_;
  std::vector<std::uint8_t> bytes_;
  std::vector<float> energies_;
};

/// Fills the grid with the cells of a picture. A picture smaller than a cell has none: the grid is
/// all margin. Throws: an empty picture; a cell not of 2 to kMaxCell px; a margin not of 0 to
/// kMaxMargin cells. Thread-safe on different grids. Targets may differ by 1 in a value.
void cell_grid(ByteView src, int cell, int margin, CellGrid& grid);

}  // namespace sdm::image
