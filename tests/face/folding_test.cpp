#include "face/folding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sdm/image/hog.h"
#include "tests/every_target.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

std::vector<float> random_values(Index count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random() % 2001) / 1000 - 1;
  return values;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// The features seen in a mirror, from the image room's own permutation.
std::vector<float> mirrored(const std::vector<float>& f, int cells) {
  const std::vector<int> patch = image::mirror_permutation(cells, cells);
  std::vector<float> result;
  for (const int partner : drawn_mirror())
    for (const int at : patch)
      result.push_back(
          f[static_cast<std::size_t>(partner) * patch.size() + static_cast<std::size_t>(at)]);
  return result;
}

class FoldingOf : public testing::TestWithParam<int> {};

TEST_P(FoldingOf, KeepsEveryProductOfAMapThatTreatsBothSidesAlike) {
  const Folding folding(9, GetParam(), drawn_mirror());
  const auto f = random_values(folding.features(), 1);
  std::vector<float> sums(static_cast<std::size_t>(folding.size())), differences = sums,
                                                                     weights = sums;
  fold(folding, f, sums, differences);
  for (const int sign : {1, -1}) {
    auto row = random_values(folding.features(), 2);
    const auto other = mirrored(row, GetParam());
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += static_cast<float>(sign) * other[i];
    EXPECT_NEAR(folding.asymmetry(row, sign), 0, 1e-9);
    EXPECT_NEAR(folding.asymmetry(row, -sign), 1, 1e-6);
    folding.fold_weights(row, sign, weights);
    EXPECT_NEAR(dot(weights, sign > 0 ? sums : differences), dot(row, f), 1e-3);
  }
}

TEST_P(FoldingOf, IsTheSameOnEveryTarget) {
  const Folding folding(9, GetParam(), drawn_mirror());
  const auto f = random_values(folding.features(), 3);
  std::vector<float> sums(static_cast<std::size_t>(folding.size()), 7), differences = sums;
  std::vector<float> plain_sums = sums, plain_differences = sums;
  scalar::fold(folding, f, plain_sums, plain_differences);
  on_every_target([&] {
    fold(folding, f, sums, differences);
    EXPECT_EQ(sums, plain_sums);
    EXPECT_EQ(differences, plain_differences);
  });
}

INSTANTIATE_TEST_SUITE_P(CellsASide, FoldingOf, testing::Values(1, 2, 3, 4));

TEST(AFoldingWithoutAMirror, LeavesFeaturesAsTheyAre) {
  const Folding folding(3, 2, {});
  const auto f = random_values(folding.features(), 4);
  std::vector<float> sums(static_cast<std::size_t>(folding.size()));
  fold(folding, f, sums, {});
  EXPECT_TRUE(std::equal(f.begin(), f.end(), sums.begin()));
}

TEST_P(FoldingOf, SixteenBitFeaturesIsTheSameOnEveryTarget) {
  const Folding folding(9, GetParam(), drawn_mirror());
  std::vector<std::int16_t> f;
  for (const float value : random_values(folding.features(), 8))
    f.push_back(static_cast<std::int16_t>(16000 * value));
  std::vector<std::int16_t> sums(static_cast<std::size_t>(folding.size()), 7), differences = sums;
  std::vector<std::int16_t> plain_sums = sums, plain_differences = sums;
  scalar::fold(folding, f, plain_sums, plain_differences);
  on_every_target([&] {
    fold(folding, f, sums, differences);
    EXPECT_EQ(sums, plain_sums);
    EXPECT_EQ(differences, plain_differences);
  });
}

// Patches that are as large as their norm allows, all alike, times the largest 8-bit number.
TEST(AStepOfSixteenBitFeatures, LeavesRoomForTheLargestSumOfProducts) {
  for (const image::Normalisation how :
       {image::Normalisation::none, image::Normalisation::l2, image::Normalisation::sqrt_l1})
    for (const Index points : {1, 9, 68, 500})
      for (const int cells : {1, 4, 8}) {
        const image::HogOptions patch{.cells = cells, .normalisation = how};
        const double step = static_cast<double>(narrow_step(patch, points));
        const double size = patch.size();
        const double largest = how == image::Normalisation::none ? 181 : 1;
        const double each = how == image::Normalisation::none ? 181 : 1 / std::sqrt(size);
        EXPECT_LE(2 * largest / step, 32767);
        EXPECT_LE(127 * static_cast<double>(points) * size * (each / step + 0.5), 2147483647.0);
      }
}

TEST(ProductsWithEightBitRows, AreExactOnEveryTarget) {
  // As many as in a model.
  const Index size = 68 * kFoldedLanes;
  // All of one sign and as large as can be: the sums just fit.
  std::vector<std::vector<float>> features = {
      random_values(size, 5), std::vector<float>(static_cast<std::size_t>(size), 1)};
  std::mt19937 random(6);
  for (const std::vector<float>& f : features)
    for (const Index rows : {1, 3, 4, 9}) {
      std::vector<std::int8_t> values(static_cast<std::size_t>(rows * size), 127);
      for (std::size_t i = static_cast<std::size_t>(size); i < values.size(); ++i)
        values[i] = static_cast<std::int8_t>(static_cast<int>(random() % 255) - 127);
      const auto scale = random_values(rows, 7);
      const float step = 1.0F / 1900;
      std::vector<std::int16_t> narrow;
      for (const float value : f)
        narrow.push_back(static_cast<std::int16_t>(std::nearbyint(value / step)));
      std::vector<float> out(static_cast<std::size_t>(rows));
      on_every_target([&] {
        multiply_i8(values.data(), scale.data(), rows, size, narrow.data(), step, out.data());
        for (std::size_t r = 0; r < out.size(); ++r) {
          std::int64_t sum = 0;
          for (std::size_t i = 0; i < f.size(); ++i)
            sum += std::int64_t{values[r * f.size() + i]} * narrow[i];
          EXPECT_FLOAT_EQ(out[r], step * scale[r] * static_cast<float>(sum));
        }
      });
    }
}

}  // namespace
}  // namespace sdm::face
