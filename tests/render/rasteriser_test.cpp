#include "sdm/render/rasteriser.h"

#include <gtest/gtest.h>

#include "sdm/base/random.h"
#include "tests/every_target.h"
#include "tests/render/small_head.h"

namespace sdm::render {
namespace {

constexpr Camera kFrontCamera{600, 60, 119.5F, 119.5F};

Points projected(const Points& points) {
  Points all(3, points.cols());
  for (Index i = 0; i < points.cols(); ++i) all.col(i) = kFrontCamera.project(points.col(i));
  return all;
}

// A ball about the origin.
HeadModel ball(float radius) {
  HeadModel model;
  model.neutral.resize(3, 0);
  small_head::add_ellipsoid(model, Eigen::Vector3f::Zero(), Eigen::Vector3f::Constant(radius), 90,
                            120, Part::eye);
  return model;
}

TEST(Rasteriser, DrawsABallAsTheDiscThatAPinholeSees) {
  const float radius = 9;
  const HeadModel model = ball(radius);
  Raster raster(240, 240);
  raster.draw(projected(model.neutral), model.triangles, true);
  // A ray touches the ball where sin(angle) = r / distance.
  const float sine = radius / kFrontCamera.distance;
  const float disc = kFrontCamera.focal * sine / std::sqrt(1 - sine * sine);
  int covered = 0;
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 240; ++x) covered += raster.at(x, y).triangle >= 0 ? 1 : 0;
  const double area = std::numbers::pi * static_cast<double>(disc * disc);
  EXPECT_NEAR(covered, area, 0.01 * area);
}

TEST(Rasteriser, GivesTheDepthAndPlaceOfWhatItShows) {
  const HeadModel model = ball(9);
  Raster raster(240, 240);
  raster.draw(projected(model.neutral), model.triangles, true);
  for (int y = 60; y < 180; y += 7)
    for (int x = 60; x < 180; x += 7) {
      const Fragment& f = raster.at(x, y);
      ASSERT_GE(f.triangle, 0);
      const SurfacePoint place{model.triangles[static_cast<std::size_t>(f.triangle)],
                               {1 - f.second - f.third, f.second, f.third}};
      const Eigen::Vector3f point = place.at(model.neutral);
      // The ray through the pixel meets the ball at the nearer root of a quadratic.
      const Eigen::Vector3f ray((static_cast<float>(x) - kFrontCamera.cx) / kFrontCamera.focal,
                                -(static_cast<float>(y) - kFrontCamera.cy) / kFrontCamera.focal,
                                -1);
      const Eigen::Vector3f eye(0, 0, kFrontCamera.distance);
      const float a = ray.squaredNorm(), b = ray.dot(eye), c = eye.squaredNorm() - 81;
      const float depth = (-b - std::sqrt(b * b - a * c)) / a;
      EXPECT_NEAR(f.depth, depth, 0.05F);
      EXPECT_LT((point - (eye + depth * ray)).norm(), 0.05F) << x << ", " << y;
    }
}

TEST(Rasteriser, ShowsTheNearerOfTwo) {
  Points points(3, 6);
  points << -5, 5, 0, -5, 5, 0,  //
      -5, -5, 5, -5, -5, 5,      //
      0, 0, 0, 8, 8, 8;
  for (const bool far_first : {true, false}) {
    std::vector<Triangle> triangles = {{0, 1, 2}, {3, 4, 5}};
    if (!far_first) std::swap(triangles[0], triangles[1]);
    Raster raster(240, 240);
    raster.draw(projected(points), triangles, true);
    EXPECT_EQ(raster.at(119, 119).triangle, far_first ? 1 : 0);
    EXPECT_NEAR(raster.at(119, 119).depth, 52, 1e-3F);
  }
}

TEST(Rasteriser, LeavesOutBacksAndHolesWhereItIsTold) {
  Points points(3, 3);
  points << -5, 5, 0, -5, -5, 5, 0, 0, 0;
  const auto one_sided = [](int) { return true; };
  const auto all = [](int, float, float, float) { return true; };
  Raster front(240, 240), back(240, 240), half(240, 240);
  front.draw(projected(points), {{0, 1, 2}}, true, all, one_sided);
  back.draw(projected(points), {{0, 2, 1}}, true, all, one_sided);
  EXPECT_EQ(front.at(119, 119).triangle, 0);
  EXPECT_EQ(back.at(119, 119).triangle, -1);
  half.draw(
      projected(points), {{0, 1, 2}}, true,
      [](int, float, float second, float) { return second > 0.5F; }, one_sided);
  EXPECT_EQ(half.at(119, 119).triangle, -1);  // its second vertex is far from the middle
}

// Pixel by pixel; holes are where the second vertex weighs more than 0.6.
std::vector<Fragment> plainly_drawn(const Points& points, const std::vector<Triangle>& triangles,
                                    bool perspective, bool holed, int width, int height) {
  std::vector<Fragment> seen(static_cast<std::size_t>(width * height));
  for (int number = 0; const Triangle& triangle : triangles) {
    const Eigen::Vector3f a = points.col(triangle[0]), b = points.col(triangle[1]),
                          c = points.col(triangle[2]);
    const Eigen::Vector3f low = a.cwiseMin(b).cwiseMin(c), high = a.cwiseMax(b).cwiseMax(c);
    const float bx = b.x() - a.x(), by = b.y() - a.y(), cx = c.x() - a.x(), cy = c.y() - a.y();
    const float scale = 1 / (bx * cy - cx * by);
    for (int i = 0; i < width * height; ++i) {
      const auto x = static_cast<float>(i % width), y = static_cast<float>(i / width);
      if (x < low.x() || x > high.x() || y < low.y() || y > high.y()) continue;
      const float px = x - a.x(), py = y - a.y();
      float w1 = (px * cy - cx * py) * scale, w2 = (bx * py - px * by) * scale, w0 = 1 - w1 - w2;
      if (std::min({w0, w1, w2}) < -1e-5F) continue;
      float depth = w0 * a.z() + w1 * b.z() + w2 * c.z();
      if (perspective) {
        w0 /= a.z(), w1 /= b.z(), w2 /= c.z();
        depth = 1 / (w0 + w1 + w2);
        w0 *= depth, w1 *= depth, w2 *= depth;
      }
      Fragment& there = seen[static_cast<std::size_t>(i)];
      if (depth < there.depth && !(holed && w1 > 0.6F)) there = {number, w1, w2, depth};
    }
    ++number;
  }
  return seen;
}

TEST(Rasteriser, DrawsBitForBitWhatIsDrawnPixelByPixel) {
  Random random(1, "triangles");
  const int width = 61, height = 40;
  for (const float size : {1.5F, 8.0F, 60.0F}) {
    Points points(3, 600);
    std::vector<Triangle> triangles;
    for (int i = 0; i < 600; ++i) {
      const int first = i - i % 3;
      if (i == first) {
        triangles.push_back({i, i + 1, i + 2});
        points.col(i) << static_cast<float>(random.uniform(-5, width + 5)),
            static_cast<float>(random.uniform(-5, height + 5)),
            static_cast<float>(random.uniform(50, 60));
      } else {
        for (int k = 0; k < 3; ++k)
          points(k, i) = points(k, first) + size * static_cast<float>(random.uniform(-0.5, 0.5));
      }
    }
    for (const bool perspective : {true, false})
      for (const bool holed : {true, false}) {
        const auto expected = plainly_drawn(points, triangles, perspective, holed, width, height);
        on_every_target([&] {
          Raster raster(width, height), depths(width, height, true);
          const Raster::Shown shown = [](int, float, float second, float) {
            return second <= 0.6F;
          };
          for (Raster* one : {&raster, &depths})
            one->draw(points, triangles, perspective, holed ? shown : nullptr);
          for (int i = 0; i < width * height; ++i) {
            const Fragment& plain = expected[static_cast<std::size_t>(i)];
            const Fragment found = raster.at(i % width, i / width);
            ASSERT_EQ(found.triangle, plain.triangle) << i;
            ASSERT_EQ(found.second, plain.second) << i;
            ASSERT_EQ(found.third, plain.third) << i;
            ASSERT_EQ(found.depth, plain.depth) << i;
            ASSERT_EQ(*depths.depths(i % width, i / width), plain.depth) << i;
          }
        });
      }
  }
}

TEST(Rasteriser, LeavesOutATriangleOfWhichThereIsNothing) {
  Points points(3, 3);
  points << -5, 5, 0, -5, -5, 5, 0, 0, 0;
  const auto never = [](int, float, float, float) { return false; };
  for (const auto extent : {Raster::Extent::whole, Raster::Extent::holed, Raster::Extent::none}) {
    Raster raster(240, 240);
    raster.draw(projected(points), {{0, 1, 2}}, true, never, nullptr, [&](int) { return extent; });
    EXPECT_EQ(raster.at(119, 119).triangle, extent == Raster::Extent::whole ? 0 : -1);
  }
}

TEST(Rasteriser, TakesTrianglesThatLeaveThePictureAndTheView) {
  Points points(3, 3);
  points << -500, 500, 0, -500, -500, 900, 0, 0, 70;  // one vertex is behind the camera
  Raster raster(40, 40);
  raster.draw(projected(points), {{0, 1, 2}}, true);
  EXPECT_EQ(raster.at(20, 20).triangle, -1);
  points(2, 2) = 0;
  raster.draw(projected(points), {{0, 1, 2}}, true);
  EXPECT_EQ(raster.at(20, 20).triangle, 0);
}

}  // namespace
}  // namespace sdm::render
