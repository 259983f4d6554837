#include "sdm/opencv/draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sdm::opencv {
namespace {

const cv::Scalar kRed(0, 0, 255);
constexpr float kInfinite = std::numeric_limits<float>::infinity(),
                kMissing = std::numeric_limits<float>::quiet_NaN();

cv::Mat black() { return {80, 100, CV_8UC3, cv::Scalar::all(0)}; }

// Calls `see(place)` for every pixel that is not black.
template <class See>
void each_drawn(const cv::Mat& picture, See&& see) {
  for (int y = 0; y < picture.rows; ++y)
    for (int x = 0; x < picture.cols; ++x)
      if (picture.at<cv::Vec3b>(y, x) != cv::Vec3b(0, 0, 0)) see(Eigen::Vector2d(x, y));
}

int drawn(const cv::Mat& picture) {
  int count = 0;
  each_drawn(picture, [&](const Eigen::Vector2d&) { ++count; });
  return count;
}

double distance_to_line(const Eigen::Vector2d& p, const Eigen::Vector2d& a,
                        const Eigen::Vector2d& b) {
  const double along = std::clamp((p - a).dot(b - a) / (b - a).squaredNorm(), 0.0, 1.0);
  return (p - a - along * (b - a)).norm();
}

TEST(DrawnPoints, AreWhereTheyShouldBeAndNowhereElse) {
  cv::Mat picture = black();
  face::Shape points(2, 3);
  points << 20.25F, 60, 0,  //
      30.5F, 50, 0;
  const double radius = 3;
  draw_points(picture, points, kRed, radius);
  for (int y = 0; y < picture.rows; ++y)
    for (int x = 0; x < picture.cols; ++x) {
      const Eigen::Vector2d at(x, y);
      const double nearest = (points.cast<double>().colwise() - at).colwise().norm().minCoeff();
      const cv::Vec3b seen = picture.at<cv::Vec3b>(y, x);
      // The rim is soft.
      if (nearest < radius - 1) {
        EXPECT_EQ(seen, cv::Vec3b(0, 0, 255)) << x << ", " << y;
      }
      if (nearest > radius + 2) {
        EXPECT_EQ(seen, cv::Vec3b(0, 0, 0)) << x << ", " << y;
      }
    }
}

TEST(DrawnPoints, OutOfThePictureOrMissingDoNoHarm) {
  cv::Mat picture = black();
  face::Shape points(2, 8);
  points << -50, 150, 50, 50, kMissing, kInfinite, 3e9F, -3e30F,  //
      40, 40, -50, 200, kMissing, 10, 10, 3e30F;
  draw_points(picture, points, kRed, 2);
  EXPECT_EQ(drawn(picture), 0);
  draw_points(picture, face::Shape(2, 0), kRed, 2);
  EXPECT_EQ(drawn(picture), 0);
}

TEST(ADrawnQuad, IsItsOutlineWithAMarkAtTheFirstCorner) {
  cv::Mat picture = black();
  rigid::Quad quad;
  quad << 20, 70, 80, 25, 15, 20, 60, 55;
  draw_quad(picture, quad, kRed);
  for (int i = 0; i < 4; ++i) {
    const Eigen::Vector2d middle = (quad.col(i) + quad.col((i + 1) % 4)) / 2;
    EXPECT_GT(picture.at<cv::Vec3b>(int(std::lround(middle.y())), int(std::lround(middle.x())))[2],
              100);
  }
  each_drawn(picture, [&](const Eigen::Vector2d& at) {
    double nearest = (at - quad.col(0)).norm() - 4;
    for (int i = 0; i < 4; ++i)
      nearest = std::min(nearest, distance_to_line(at, quad.col(i), quad.col((i + 1) % 4)));
    EXPECT_LT(nearest, 3);
  });
  EXPECT_EQ(picture.at<cv::Vec3b>(15, 17), cv::Vec3b(0, 0, 255));  // outside of the outline
}

TEST(ADrawnQuad, ThatIsFarAwayOrNotFiniteDoesNoHarm) {
  cv::Mat picture = black();
  rigid::Quad quad = rigid::quad_of_box(1000, 1000, 50, 50);
  draw_quad(picture, quad, kRed);
  draw_quad(picture, quad * 1e300, kRed);
  quad(0, 2) = std::numeric_limits<double>::quiet_NaN();
  draw_quad(picture, quad, kRed);
  EXPECT_EQ(drawn(picture), 0);
}

TEST(DrawnAxes, GoRightDownAndOutOfTheFace) {
  pose::HeadPose pose;
  pose.position = {50, 40};
  pose.scale = 25;
  cv::Mat picture = black();
  draw_axes(picture, pose);
  EXPECT_EQ(picture.at<cv::Vec3b>(40, 65), cv::Vec3b(60, 60, 255));
  EXPECT_EQ(picture.at<cv::Vec3b>(55, 50), cv::Vec3b(60, 255, 60));
  each_drawn(picture, [&](const Eigen::Vector2d& at) {
    EXPECT_LT(std::min(distance_to_line(at, {50, 40}, {75, 40}),
                       distance_to_line(at, {50, 40}, {50, 65})),
              3);
  });
  // A nose that points to the right of the picture.
  pose.rotation = pose::from_yaw_pitch_roll({90, 0, 0});
  picture = black();
  draw_axes(picture, pose);
  EXPECT_EQ(picture.at<cv::Vec3b>(40, 65), cv::Vec3b(255, 120, 0));
}

TEST(DrawnAxes, OfAPoseOutOfThePictureDoNoHarm) {
  cv::Mat picture = black();
  pose::HeadPose pose;
  pose.scale = 25;
  for (const double place : {-500.0, 1e4, 1e300, double(kMissing), double(kInfinite)}) {
    pose.position = {place, 40};
    draw_axes(picture, pose);
  }
  EXPECT_EQ(drawn(picture), 0);
  pose.position = {50, 40};
  for (const double scale : {1e300, double(kMissing), double(kInfinite)}) {
    pose.scale = scale;
    draw_axes(picture, pose);
  }
}

TEST(DrawnText, StandsWhereItShouldOnAnyBackground) {
  for (const int background : {0, 128, 255}) {
    cv::Mat picture(80, 200, CV_8UC3, cv::Scalar::all(background)), before = picture.clone(), moved;
    draw_caption(picture, "lost");
    cv::absdiff(picture, before, moved);
    EXPECT_GT(drawn(moved), 20);
    each_drawn(moved, [&](const Eigen::Vector2d& at) {
      EXPECT_LT(at.x(), 100);
      EXPECT_LT(at.y(), 30);
    });
  }
  cv::Mat picture = black();
  draw_text(picture, "far away", {500, 500});
  draw_text(picture, "", {10, 40});
  EXPECT_EQ(drawn(picture), 0);
}

TEST(AFaceTile, ShowsTheFaceWithTheTruthGreenAndThePredictionRed) {
  cv::Mat picture = black();
  for (int x = 0; x < picture.cols; ++x) picture.col(x).setTo(cv::Scalar::all(2 * x));
  face::Shape truth(2, 4), predicted(2, 1);
  truth << 30, 70, 70, 30, 20, 20, 60, 60;
  predicted << 50, 40;
  // The square about the points and a quarter of it on each side is (20, 10) to (80, 70).
  const cv::Mat tile = face_tile(picture, truth, predicted, 60);
  ASSERT_EQ(tile.size(), cv::Size(60, 60));
  for (const auto& p : truth.colwise())
    EXPECT_EQ(tile.at<cv::Vec3b>(int(p.y()) - 10, int(p.x()) - 20), cv::Vec3b(0, 200, 0));
  EXPECT_EQ(tile.at<cv::Vec3b>(30, 30), cv::Vec3b(40, 40, 255));
  for (const int x : {2, 20, 40, 57})
    EXPECT_EQ(tile.at<cv::Vec3b>(30, x), picture.at<cv::Vec3b>(40, x + 20)) << x;
}

TEST(AFaceTile, IsCutAroundThePredictionWhereThereIsNoTruth) {
  face::Shape predicted(2, 2);
  predicted << 30, 70, 40, 40;
  const cv::Mat tile = face_tile(black(), face::Shape(2, 0), predicted, 60);
  EXPECT_EQ(tile.at<cv::Vec3b>(30, 10), cv::Vec3b(40, 40, 255));
  EXPECT_EQ(tile.at<cv::Vec3b>(30, 50), cv::Vec3b(40, 40, 255));
  EXPECT_EQ(face_tile(black(), face::Shape(2, 0), face::Shape(2, 0), 60).size(), cv::Size(60, 60));
}

}  // namespace
}  // namespace sdm::opencv
