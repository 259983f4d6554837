#include "sdm/image/cell_grid.h"

#include <gtest/gtest.h>

#include <cmath>

#include "image/scalar.h"
#include "sdm/base/error.h"
#include "sdm/image/hog.h"
#include "tests/every_target.h"
#include "tests/image/pictures.h"

namespace sdm::image {
namespace {

TEST(ACellGrid, EqualsItsScalarTwinOnEveryTarget) {
  const int sizes[][2] = {{1, 1}, {7, 5}, {16, 16}, {33, 20}, {130, 67}, {401, 90}};
  for (const auto& size : sizes) {
    const int w = size[0], h = size[1];
    const auto picture = noise<std::uint8_t>(w, h, unsigned(w));
    for (int cell = 2; cell <= CellGrid::kMaxCell; ++cell) {
      CellGrid wanted;
      scalar::cell_grid(picture, cell, 2, wanted);
      on_every_target([&] {
        CellGrid grid;
        cell_grid(picture, cell, 2, grid);
        ASSERT_EQ(grid.columns(), w / cell + 4);
        ASSERT_EQ(grid.rows(), h / cell + 4);
        for (int y = 0; y < grid.rows(); ++y)
          for (int i = 0; i < grid.columns() * kBins; ++i)
            ASSERT_NEAR(grid.row(y)[i], wanted.row(y)[i], 1) << w << " " << cell << " " << y;
      });
    }
  }
}

// The same votes in floats, with the block's norm and cut of dense_hog.
TEST(ACellGrid, HoldsTheValuesOfDenseHog) {
  const auto picture = noise<std::uint8_t>(90, 60, 3);
  const DenseHogOptions options{6, 1, Normalisation::l2_hys, 2.5F};
  std::vector<float> values(std::size_t(options.size(90, 60)));
  dense_hog(picture, options, values);
  CellGrid grid;
  cell_grid(picture, 6, 1, grid);
  for (int y = 0; y < 10; ++y)
    for (int i = 0; i < 15 * kBins; ++i)
      ASSERT_NEAR(grid.at(1, y + 1)[i], 1275 * values[std::size_t(y * 15 * kBins + i)], 1);
}

TEST(ACellGrid, HasAMarginOfNothing) {
  CellGrid grid;
  cell_grid(noise<std::uint8_t>(40, 40, 1), 8, 3, grid);
  for (int y = 0; y < grid.rows(); ++y)
    for (int x = 0; x < grid.columns(); ++x) {
      int sum = 0;
      for (int k = 0; k < kBins; ++k) sum += grid.at(x, y)[k];
      const bool inside = x >= 3 && y >= 3 && x < 8 && y < 8;
      EXPECT_EQ(sum > 0, inside) << x << " " << y;
    }
}

TEST(ACellGrid, IsTheSameForATinyPictureAfterALargeOne) {
  const auto small = noise<std::uint8_t>(20, 20, 2);
  CellGrid fresh, used;
  cell_grid(small, 4, 2, fresh);
  cell_grid(noise<std::uint8_t>(300, 200, 5), 4, 2, used);
  cell_grid(small, 4, 2, used);
  for (int y = 0; y < fresh.rows(); ++y)
    for (int i = 0; i < fresh.columns() * kBins; ++i) ASSERT_EQ(fresh.row(y)[i], used.row(y)[i]);
}

TEST(ACellGrid, RefusesWhatItCannotHold) {
  CellGrid grid;
  const auto picture = noise<std::uint8_t>(20, 20, 2);
  EXPECT_THROW(cell_grid(ByteView(), 4, 2, grid), Error);
  EXPECT_THROW(cell_grid(picture, 1, 2, grid), Error);
  EXPECT_THROW(cell_grid(picture, 9, 2, grid), Error);
  EXPECT_THROW(cell_grid(picture, 4, -1, grid), Error);
}

}  // namespace
}  // namespace sdm::image
