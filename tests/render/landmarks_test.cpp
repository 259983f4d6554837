#include "render/landmarks.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "tests/render/small_head.h"

namespace sdm::render {
namespace {

constexpr Camera kCamera{800, 90, 149.5F, 149.5F};

struct Turned {
  Points points;
  std::array<Eigen::Vector3f, 68> landmarks;
};

Turned turned_head(const HeadModel& head, float yaw, float roll) {
  const Layout layout(head);
  const Landmarks landmarks(head, layout);
  BrowPoints brows;
  for (std::size_t k = 0; k < 10; ++k) brows[k].vertices.fill(head.landmarks[17 + k]);
  const Eigen::Matrix3f rotation = (Eigen::AngleAxisf(roll, Eigen::Vector3f::UnitZ()) *
                                    Eigen::AngleAxisf(yaw, Eigen::Vector3f::UnitY()))
                                       .toRotationMatrix();
  Turned turned;
  turned.points = rotation * head.neutral;
  turned.landmarks = landmarks.place(turned.points, kCamera, roll, brows);
  return turned;
}

// How far a pixel is from one that shows no head.
float to_background(const Raster& raster, const Eigen::Vector3f& at) {
  float nearest = 1e6F;
  for (int y = 0; y < raster.height(); ++y)
    for (int x = 0; x < raster.width(); ++x)
      if (raster.at(x, y).triangle < 0)
        nearest = std::min(
            nearest, std::hypot(static_cast<float>(x) - at.x(), static_cast<float>(y) - at.y()));
  return nearest;
}

TEST(Landmarks, TheJawLiesOnTheOutlineThatOneSees) {
  const HeadModel head = make_small_head();
  for (const float yaw : {-0.5F, 0.0F, 0.5F})
    for (const float roll : {-0.3F, 0.0F, 0.3F}) {
      const Turned turned = turned_head(head, yaw, roll);
      Points projected(3, turned.points.cols());
      for (Index i = 0; i < projected.cols(); ++i)
        projected.col(i) = kCamera.project(turned.points.col(i));
      Raster raster(300, 300);
      raster.draw(projected, head.triangles, true);
      // The side that the head turns away: positive yaw turns the nose to the right.
      for (int k = 0; k <= 16; ++k) {
        if (yaw > 0 ? k < 10 : yaw < 0 ? k > 6 : (k < 2 || k > 14)) continue;
        EXPECT_LT(
            to_background(raster, kCamera.project(turned.landmarks[static_cast<std::size_t>(k)])),
            4)
            << "point " << k << ", yaw " << yaw << ", roll " << roll;
      }
    }
}

TEST(Landmarks, TheJawsPointsAreEvenlySpacedFromEitherEndToTheChin) {
  const HeadModel head = make_small_head();
  const Turned turned = turned_head(head, 0.2F, 0.1F);
  const auto at = [&](int k) -> Eigen::Vector2f {
    return kCamera.project(turned.landmarks[static_cast<std::size_t>(k)]).head<2>();
  };
  for (const int first : {0, 8}) {
    float shortest = 1e6F, longest = 0;
    for (int k = first; k < first + 8; ++k) {
      const float length = (at(k + 1) - at(k)).norm();
      shortest = std::min(shortest, length), longest = std::max(longest, length);
    }
    EXPECT_LT(longest, 1.15F * shortest);
  }
}

TEST(Landmarks, TheJawBeginsBetweenTheHeightsOfTheEyesCornersAndTheLowerLids) {
  const HeadModel head = make_small_head();
  const Turned ahead = turned_head(head, 0, 0);
  const auto height = [&](std::size_t k) { return ahead.landmarks[k].y(); };
  for (const std::size_t end : {0, 16}) {
    EXPECT_LT(height(end), height(36));
    EXPECT_GT(height(end), height(41));
  }
}

TEST(Landmarks, TheChinGoesOnAlongTheOutlineAsItHasGonePastTheEyes) {
  const HeadModel head = make_small_head();  // its chin is behind its eyes
  for (const float yaw : {-0.4F, -0.2F, 0.0F, 0.2F, 0.4F}) {
    const Turned turned = turned_head(head, yaw, 0);
    const auto across = [&](std::size_t k) {
      return kCamera.project(turned.points.col(head.landmarks[k])).x();
    };
    const float past = across(8) - 0.5F * (across(36) + across(45));
    const float on = kCamera.project(turned.landmarks[8]).x() - across(8);
    if (yaw == 0)
      EXPECT_NEAR(on, 0, 0.5F);
    else
      EXPECT_GT(past > 0 ? on : -on, std::abs(past)) << yaw;
  }
}

TEST(Landmarks, AChinBeforeTheEyesGoesToTheSideThatTheHeadTurnsTo) {
  HeadModel head = make_small_head();
  for (Index i = 0; i < head.neutral.cols(); ++i)
    head.neutral(2, i) += 0.7F * (3.4F - head.neutral(1, i));
  for (const float yaw : {-0.3F, 0.3F}) {
    const Turned turned = turned_head(head, yaw, 0);
    const float middle = kCamera.project(turned.points.col(head.landmarks[8])).x();
    const float on = kCamera.project(turned.landmarks[8]).x() - middle;
    EXPECT_GT(yaw > 0 ? on : -on, 3) << yaw;
  }
}

TEST(Landmarks, AFaceAndItsMirrorImageAgree) {
  const HeadModel head = make_small_head();
  const Turned left = turned_head(head, 0.3F, 0), right = turned_head(head, -0.3F, 0);
  for (int k = 0; k < 17; ++k) {
    const Eigen::Vector3f a = left.landmarks[static_cast<std::size_t>(k)];
    const Eigen::Vector3f b = right.landmarks[static_cast<std::size_t>(16 - k)];
    EXPECT_LT((a - Eigen::Vector3f(-b.x(), b.y(), b.z())).norm(), 0.3F) << k;
  }
}

}  // namespace
}  // namespace sdm::render
