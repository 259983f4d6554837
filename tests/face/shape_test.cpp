#include "sdm/face/shape.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sdm::face {
namespace {

TEST(AShape, IsBoundedAndComparedByItsKnownPoints) {
  Shape truth(2, 3);
  truth << 1, std::nanf(""), 4,  //
      8, std::nanf(""), -2;
  EXPECT_EQ(bounds(truth).min(), Eigen::Vector2f(1, -2));
  EXPECT_EQ(bounds(truth).max(), Eigen::Vector2f(4, 8));
  Shape points = Shape::Zero(2, 3);
  points.col(0) << 1 + 3, 8 + 4;
  points.col(2) << 4, -2 - 1;
  EXPECT_NEAR(mean_distance(points, truth), 3, 1e-6);
  truth.setConstant(std::nanf(""));
  EXPECT_TRUE(bounds(truth).isEmpty());
  EXPECT_TRUE(std::isnan(mean_distance(points, truth)));
}

}  // namespace
}  // namespace sdm::face
