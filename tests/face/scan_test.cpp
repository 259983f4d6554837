#include "face/scan.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/every_target.h"
#include "tests/image/pictures.h"

namespace sdm::face {
namespace {

std::vector<std::int8_t> random_weights(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::int8_t> weights;
  for (int i = 0; i < count; ++i)
    weights.push_back(static_cast<std::int8_t>(static_cast<int>(random() % 255) - 127));
  return weights;
}

TEST(AScan, EqualsItsScalarTwinExactlyOnEveryTarget) {
  image::CellGrid grid;
  image::cell_grid(image::noise<std::uint8_t>(150, 90, 7), 4, 2, grid);
  for (const auto& [columns, rows] :
       {std::pair(10, 10), std::pair(7, 5), std::pair(1, 1), std::pair(32, 3)}) {
    const ScanTemplate one(columns, rows,
                           random_weights(columns * rows * image::kBins, unsigned(columns)));
    on_every_target([&, columns = columns, rows = rows] {
      const int count = grid.columns() - columns + 1;
      std::vector<std::int32_t> sums(static_cast<std::size_t>(count));
      for (int y = 0; y + rows <= grid.rows(); ++y) {
        scan_row(grid, y, one, sums);
        for (int x = 0; x < count; ++x) {
          ASSERT_EQ(sums[static_cast<std::size_t>(x)], scalar::scan_at(grid, x, y, one));
          ASSERT_EQ(scan_at(grid, x, y, one), scalar::scan_at(grid, x, y, one));
        }
      }
    });
  }
}

TEST(AScan, DoesNotOverflowOnTheLargestWindowOfTheLargestValues) {
  image::CellGrid grid;
  grid.reset(32, 32);
  for (int y = 0; y < 32; ++y) std::fill_n(grid.row(y), 32 * image::kBins, std::int16_t{255});
  const ScanTemplate one(32, 32, std::vector<std::int8_t>(32 * 32 * image::kBins, -127));
  EXPECT_EQ(scan_at(grid, 0, 0, one), -127 * 255 * 32 * 32 * image::kBins);
}

}  // namespace
}  // namespace sdm::face
