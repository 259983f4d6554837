#include "experiments/tracking/moved_stills.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sdm/base/error.h"

namespace sdm::experiments {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Soft light spots on a dark ground, and where they are.
Still spots() {
  Still still{"spots", image::Image<std::uint8_t>(300, 280), face::Shape(2, 5)};
  still.points << 110, 190, 150.5F, 120.25F, 181, 110, 112, 150, 190, 187.75F;
  for (int y = 0; y < 280; ++y)
    for (int x = 0; x < 300; ++x) {
      double light = 20;
      for (const auto& p : still.points.colwise())
        light +=
            150 * std::exp(-(std::pow(x - double(p.x()), 2) + std::pow(y - double(p.y()), 2)) / 32);
      still.picture(x, y) = static_cast<std::uint8_t>(std::min(255.0, light + 0.5));
    }
  return still;
}

MovedStillOptions motion_alone() {
  MovedStillOptions options;
  options.gain = options.offset = options.side_light = options.blur = options.noise = 0;
  return options;
}

// The centre of the light within a few pixels of a place.
Eigen::Vector2d centre_of_light(image::ByteView picture, const Eigen::Vector2f& near) {
  Eigen::Vector2d sum = Eigen::Vector2d::Zero();
  double weight = 0;
  const int cx = int(std::lround(near.x())), cy = int(std::lround(near.y()));
  for (int y = cy - 10; y <= cy + 10; ++y)
    for (int x = cx - 10; x <= cx + 10; ++x) {
      const double light = std::max(0, picture(x, y) - 30);
      sum += light * Eigen::Vector2d(x, y);
      weight += light;
    }
  return sum / weight;
}

TEST(AMovedStill, HasTheTruthWhereItsPixelsAre) {
  const Still still = spots();
  const MovedStill moved(still, motion_alone());
  for (const int number : {3, 11, 20, 39}) {
    const MovedFrame frame = moved.frame(number);
    EXPECT_GT((frame.truth - still.points).colwise().norm().maxCoeff(), 3);
    for (const auto& point : frame.truth.colwise())
      EXPECT_LT((centre_of_light(frame.picture, point) - point.cast<double>()).norm(), 0.3);
  }
}

TEST(AMovedStill, BeginsAsTheStillItIs) {
  const Still still = spots();
  const MovedFrame frame = MovedStill(still, motion_alone()).frame(0);
  EXPECT_LT((frame.truth - still.points).norm(), 1e-3);
  for (int y = 0; y < still.picture.height(); ++y)
    for (int x = 0; x < still.picture.width(); ++x)
      ASSERT_NEAR(frame.picture(x, y), still.picture(x, y), 1);
}

TEST(AMovedStill, IsTheSameForTheSameSeedAlone) {
  const Still still = spots();
  const MovedFrame one = MovedStill(still).frame(7), same = MovedStill(still).frame(7);
  MovedStillOptions options;
  options.seed = 2;
  const MovedFrame other = MovedStill(still, options).frame(7);
  EXPECT_EQ(one.truth, same.truth);
  for (int x = 0; x < 300; ++x) EXPECT_EQ(one.picture(x, 140), same.picture(x, 140));
  EXPECT_GT((one.truth - other.truth).norm(), 1);
}

TEST(AMovedStill, MovesSmoothly) {
  const Still still = spots();
  const double size = 110;  // of the points' extent
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    MovedStillOptions options = motion_alone();
    options.seed = seed;
    const MovedStill moved(still, options);
    for (int number = 1; number < moved.frames(); ++number)
      EXPECT_LT((moved.frame(number).truth - moved.frame(number - 1).truth).colwise().norm().mean(),
                0.15 * size);
  }
}

TEST(AMovedStill, NeedsItsPoints) {
  Still still = spots();
  still.points(0, 2) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT([&] { MovedStill moved(still); }, ThrowsMessage<Error>(HasSubstr("all known")));
}

}  // namespace
}  // namespace sdm::experiments
