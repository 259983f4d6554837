#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sdm/image/cell_grid.h"

namespace sdm::face {

/// The weights of a template as the kernels read them: rows filled up with zeros to whole vectors.
class ScanTemplate {
 public:
  ScanTemplate() = default;
  ScanTemplate(int columns, int rows, std::span<const std::int8_t> weights);

  int columns() const { return columns_; }
  int rows() const { return rows_; }
  int padded() const { return padded_; }  // values of a row
  const std::int16_t* row(int y) const { return weights_.data() + std::ptrdiff_t(y) * padded_; }

 private:
  int columns_ = 0, rows_ = 0, padded_ = 0;
  std::vector<std::int16_t> weights_;
};

/// sums[x] = weights^T f for the windows whose upper left cell is (x, y), for every x at which the
/// window lies inside the grid. The sums are exact, alike on every target. Needs: windows inside.
void scan_row(const image::CellGrid& grid, int y, const ScanTemplate& one,
              std::span<std::int32_t> sums);

/// The same for one window.
std::int32_t scan_at(const image::CellGrid& grid, int x, int y, const ScanTemplate& one);

// The same, written as plainly as can be.
namespace scalar {
std::int32_t scan_at(const image::CellGrid& grid, int x, int y, const ScanTemplate& one);
}

}  // namespace sdm::face
