#include "render/photograph.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sdm::render {
namespace {

Field waves() {
  Field field(37, 29);
  for (int y = 0; y < 29; ++y)
    for (int x = 0; x < 37; ++x)
      field(x, y) = 0.5F + 0.3F * std::sin(0.7F * static_cast<float>(x)) *
                               std::cos(0.4F * static_cast<float>(y));
  return field;
}

float largest_difference(const Field& a, const Field& b) {
  float largest = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) largest = std::max(largest, std::abs(a(x, y) - b(x, y)));
  return largest;
}

TEST(Compression, OfTheBestQualityRoundsAndOfTheWorstSpoils) {
  Field best = waves(), worst = waves();
  compress(best, 100);
  compress(worst, 5);
  // Steps of 1: sixty-four cosines, each off by half a step at most and by a third in the mean.
  EXPECT_LT(largest_difference(best, waves()), 3.0F / 255);
  EXPECT_GT(largest_difference(worst, waves()), 10.0F / 255);
}

TEST(Compression, LeavesOneGreyAsItIs) {
  Field grey(16, 16, 128.0F / 255);
  compress(grey, 50);
  EXPECT_LT(largest_difference(grey, Field(16, 16, 128.0F / 255)), 1e-4F);
}

TEST(Blur, KeepsTheMeanAndSpreadsByItsDeviation) {
  for (const float sigma : {0.5F, 1.5F, 4.0F}) {
    Field dot(101, 101);
    dot(50, 50) = 1;
    blur(dot, sigma);
    double sum = 0, square = 0;
    for (int y = 0; y < 101; ++y)
      for (int x = 0; x < 101; ++x) {
        const auto value = static_cast<double>(dot(x, y));
        sum += value, square += value * (x - 50) * (x - 50);
      }
    EXPECT_NEAR(sum, 1, 1e-4);
    EXPECT_NEAR(std::sqrt(square / sum), static_cast<double>(sigma),
                0.2 * static_cast<double>(sigma) + 0.1);
  }
}

}  // namespace
}  // namespace sdm::render
