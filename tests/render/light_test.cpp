#include "sdm/render/light.h"

#include <gtest/gtest.h>

#include "tests/render/small_head.h"

namespace sdm::render {
namespace {

// Two triangles over [-side, side] squared at a height, facing up.
void add_square(Points& points, std::vector<Triangle>& triangles, float side, float height) {
  const int first = static_cast<int>(points.cols());
  points.conservativeResize(3, first + 4);
  points.rightCols(4) << -side, side, side, -side, height, height, height, height, side, side,
      -side, -side;
  triangles.push_back({first, first + 1, first + 2});
  triangles.push_back({first, first + 2, first + 3});
}

TEST(Light, AGlowIsAboutTheClampedCosineOfItsLamp) {
  Light light;
  light.harmonics.fill(0);
  const Eigen::Vector3f towards = Eigen::Vector3f(0.4F, 0.7F, 0.6F).normalized();
  light.add_glow(towards, 2);
  for (int i = 0; i < 200; ++i) {
    const float z = 1 - static_cast<float>(2 * i + 1) / 200, angle = 2.4F * static_cast<float>(i);
    const float r = std::sqrt(1 - z * z);
    const Eigen::Vector3f normal(r * std::cos(angle), r * std::sin(angle), z);
    EXPECT_NEAR(light.ambient(normal), 2 * std::max(0.0F, normal.dot(towards)), 0.2F);
  }
}

TEST(Shadows, FallBehindWhatStandsInTheLight) {
  Points points(3, 0);
  std::vector<Triangle> triangles;
  add_square(points, triangles, 10, 0);
  add_square(points, triangles, 3, 5);
  ShadowMap map(Eigen::Vector3f::UnitY(), 20, 200);
  map.raster().draw(map.project(points), triangles, false);
  EXPECT_EQ(map.lit({0, 0, 0}, 0.2F), 0);
  EXPECT_EQ(map.lit({2, 0, -2}, 0.2F), 0);
  EXPECT_EQ(map.lit({6, 0, 0}, 0.2F), 1);
  EXPECT_EQ(map.lit({0, 5, 0}, 0.2F), 1);
  EXPECT_EQ(map.lit({50, 0, 0}, 0.2F), 1);  // beyond the map
  // From aside the shadow moves away from the lamp by as much as it is high.
  ShadowMap aside(Eigen::Vector3f(1, 1, 0), 20, 200);
  aside.raster().draw(aside.project(points), triangles, false);
  EXPECT_EQ(aside.lit({-5, 0, 0}, 0.5F), 0);
  EXPECT_EQ(aside.lit({0, 0, 0}, 0.5F), 1);
}

TEST(AmbientOcclusion, IsOneInTheOpenAndSmallUnderALid) {
  ThreadPool pool(2);
  HeadModel ball;
  ball.neutral.resize(3, 0);
  small_head::add_ellipsoid(ball, Eigen::Vector3f::Zero(), Eigen::Vector3f::Constant(5), 20, 24,
                            Part::skin);
  const auto open = ambient_occlusion(ball.neutral, normals(ball.neutral, ball.triangles),
                                      ball.triangles, 64, pool);
  for (const float share : open) EXPECT_GT(share, 0.9F);

  Points points(3, 0);
  std::vector<Triangle> triangles;
  add_square(points, triangles, 3, 0);
  add_square(points, triangles, 15, 1.5F);
  Points up = Points::Zero(3, points.cols());
  up.row(1).setOnes();
  const auto under = ambient_occlusion(points, up, triangles, 200, pool);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_LT(under[i], 0.2F);
  for (std::size_t i = 4; i < 8; ++i) EXPECT_GT(under[i], 0.95F);
}

}  // namespace
}  // namespace sdm::render
