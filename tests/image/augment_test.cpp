#include "sdm/image/augment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sdm/base/error.h"
#include "tests/image/pictures.h"

namespace sdm::image {
namespace {

TEST(MotionBlur, OfOnePixelCopiesAndOfAFlatPictureChangesNothing) {
  const auto src = noise<float>(20, 13, 1);
  Image<float> out(20, 13);
  motion_blur(src, 1, 0.7f, out);
  EXPECT_EQ(largest_difference(src, out), 0);
  const Image<float> flat(20, 13, 42);
  motion_blur(flat, 30, 0.7f, out);
  EXPECT_LE(largest_difference(flat, out), 1e-3);
}

TEST(MotionBlur, IsAMovingAverageAlongItsDirection) {
  const auto src = noise<float>(40, 30, 2);
  Image<float> along_x(40, 30), along_y(40, 30);
  motion_blur(src, 9, 0, along_x);
  motion_blur(src, 9, std::numbers::pi_v<float> / 2, along_y);
  for (int y = 4; y < 26; ++y) {
    for (int x = 4; x < 36; ++x) {
      double row = 0, column = 0;
      for (int i = -4; i <= 4; ++i) {
        row += src(x + i, y) / 9;
        column += src(x, y + i) / 9;
      }
      EXPECT_NEAR(along_x(x, y), row, 1e-3);
      EXPECT_NEAR(along_y(x, y), column, 1e-3);
    }
  }
}

TEST(MotionBlur, WorksInPlaceAndOnAnyRealLength) {
  auto image = noise<float>(16, 16, 3);
  Image<float> out(16, 16);
  motion_blur(image, 4.5f, 2.1f, out);
  motion_blur(image, 4.5f, 2.1f, image);
  EXPECT_EQ(largest_difference(image, out), 0);
  EXPECT_THROW(motion_blur(image, 1e6f, 0, out), Error);
  EXPECT_THROW(motion_blur(image, NAN, 0, out), Error);
  EXPECT_THROW(motion_blur(image, 3, INFINITY, out), Error);
  Image<float> other(15, 16);
  EXPECT_THROW(motion_blur(image, 3, 0, other), Error);
}

TEST(Noise, HasTheDeviationAskedForAndFollowsItsSeed) {
  Image<float> a(201, 200), b(201, 200), c(201, 200);
  add_noise(a, 10, 7);
  add_noise(b, 10, 7);
  add_noise(c, 10, 8);
  EXPECT_EQ(largest_difference(a, b), 0);
  double sum = 0, squares = 0, product = 0, fourth = 0;
  const double n = 201 * 200;
  for (int y = 0; y < 200; ++y) {
    for (int x = 0; x < 201; ++x) {
      sum += a(x, y);
      squares += a(x, y) * a(x, y);
      fourth += std::pow(a(x, y) / 10, 4);
      product += a(x, y) * c(x, y);
    }
  }
  // Five deviations of each estimate.
  EXPECT_NEAR(sum / n, 0, 5 * 10 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 100, 5 * 100 * std::sqrt(2 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96 / n));
  EXPECT_NEAR(product / n, 0, 5 * 100 / std::sqrt(n));
  EXPECT_THROW(add_noise(a, -1, 0), Error);
}

}  // namespace
}  // namespace sdm::image
