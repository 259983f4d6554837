#include "experiments/faces/degraded.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sdm::experiments {
namespace {

// Two bright squares on grey; the points are their centres.
BoxedFace two_squares() {
  BoxedFace face{image::Image<std::uint8_t>(240, 240, 60), face::Shape(2, 2), {50, 60, 140, 120}};
  face.points << 69.5F, 169.5F, 99.5F, 139.5F;
  for (int p = 0; p < 2; ++p)
    for (int y = -10; y < 10; ++y)
      for (int x = -10; x < 10; ++x)
        face.picture(int(face.points(0, p) + 0.5F) + x, int(face.points(1, p) + 0.5F) + y) = 220;
  return face;
}

// Where the light above the background is, in the half of the picture on this point's side.
Eigen::Vector2d centre_of_light(const BoxedFace& face, int point) {
  Eigen::Vector2d sum(0, 0);
  double weight = 0;
  const int middle = face.picture.width() / 2;
  for (int y = 0; y < face.picture.height(); ++y)
    for (int x = point == 0 ? 0 : middle; x < (point == 0 ? middle : 2 * middle); ++x) {
      const double light = std::max(0.0, double(face.picture(x, y)) - 62);
      sum += light * Eigen::Vector2d(x, y);
      weight += light;
    }
  return sum / weight;
}

void expect_points_on_light(const BoxedFace& face, double within) {
  for (int p = 0; p < 2; ++p)
    EXPECT_LT((centre_of_light(face, p) - face.points.col(p).cast<double>()).norm(), within) << p;
}

TEST(ADegradedFace, KeepsItsPointsAndItsBoxOnThePictureWhenItShrinks) {
  const BoxedFace face = two_squares(), small = shrunk_to(face, 25);
  EXPECT_NEAR(small.width(), 25, 0.5);
  EXPECT_EQ(small.picture.width(), 60);
  expect_points_on_light(face, 0.01);
  expect_points_on_light(small, 0.1);
  EXPECT_NEAR(small.box.width, 35, 0.01);
  EXPECT_NEAR(small.box.x, 12.1, 0.1);
  EXPECT_EQ(shrunk_to(face, 150).picture.width(), 240);
}

TEST(ADegradedFace, IsBlurredInPlace) {
  const BoxedFace soft = gaussian_blurred(two_squares(), 4),
                  moved = motion_blurred(two_squares(), 12, 0.7);
  expect_points_on_light(soft, 0.2);
  expect_points_on_light(moved, 0.2);
  const auto edge = [](const BoxedFace& face) {
    return std::abs(int(face.picture(59, 100)) - int(face.picture(60, 100)));
  };
  EXPECT_EQ(edge(two_squares()), 160);
  EXPECT_LT(edge(soft), 40);
  EXPECT_LT(edge(moved), 60);
}

TEST(ADegradedFace, IsDarkerAndNoisierInLessLight) {
  const BoxedFace dark = in_less_light(two_squares(), 8, 1, 2);
  double sum = 0, squares = 0, count = 0;
  for (int y = 0; y < 50; ++y)
    for (int x = 0; x < 240; ++x) {
      sum += dark.picture(x, y);
      squares += double(dark.picture(x, y)) * dark.picture(x, y);
      ++count;
    }
  const double mean = sum / count, deviation = std::sqrt(squares / count - mean * mean);
  EXPECT_NEAR(mean, 60 / 8.0, 0.1);
  // Photons, reading and rounding.
  EXPECT_NEAR(deviation, std::sqrt(60 / 8.0 * 255 / 2000 + 1 + 1 / 12.0), 0.05);
  EXPECT_EQ(in_less_light(two_squares(), 8, 1, 2).picture(7, 9), dark.picture(7, 9));
}

}  // namespace
}  // namespace sdm::experiments
