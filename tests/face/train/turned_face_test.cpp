#include "sdm/face/train/turned_face.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "face/train/turned_copies.h"
#include "sdm/base/random.h"
#include "sdm/face/aligner.h"
#include "tests/face/why.h"

namespace sdm::face {
namespace {

using testing::HasSubstr;

constexpr double kA = 1.2, kB = 1.6, kC = 1;  // half axes of the ellipsoid

/// Points of the ellipsoid's front half: rings, and the outline below its middle.
struct Ellipsoid {
  pose::Points3 points;
  std::vector<int> mirror, outline;

  Ellipsoid() {
    std::vector<Eigen::Vector3d> all;
    const auto add = [&](double radius, double angle) {
      const double x = kA * radius * std::cos(angle), y = kB * radius * std::sin(angle);
      all.emplace_back(x, y, -kC * std::sqrt(std::max(0.0, 1 - radius * radius)));
    };
    add(0, 0);
    for (const double radius : {0.3, 0.6, 0.85})
      for (int i = 0; i < 12; ++i) add(radius, std::numbers::pi * (i + 0.5) / 6);
    for (int i = 0; i <= 10; ++i) {
      outline.push_back(static_cast<int>(all.size()));
      add(1, std::numbers::pi * i / 10);
    }
    points.resize(3, static_cast<Index>(all.size()));
    for (std::size_t i = 0; i < all.size(); ++i) points.col(static_cast<Index>(i)) = all[i];
    for (Index i = 0; i < points.cols(); ++i) {
      Index partner = 0;
      const Eigen::Vector3d there(-points(0, i), points(1, i), points(2, i));
      (points.colwise() - there).colwise().norm().minCoeff(&partner);
      mirror.push_back(static_cast<int>(partner));
    }
  }

  FaceTurner turner() const { return FaceTurner(points.cast<float>(), {}, outline); }
};

double texture(double x, double y) { return 128 + 60 * std::sin(5 * x + 1) * std::cos(4 * y); }

/// The ellipsoid in a view, pixel by pixel; where its front is not seen, `behind`.
image::Image<std::uint8_t> look(const Eigen::Matrix3d& rotation, double scale,
                                const Eigen::Vector2d& position, int size, double behind,
                                double edge = 1) {
  image::Image<std::uint8_t> picture(size, size);
  const Eigen::Vector3d squares(1 / (kA * kA), 1 / (kB * kB), 1 / (kC * kC));
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x) {
      const Eigen::Vector3d start = rotation.transpose() *
                                    Eigen::Vector3d((x - position.x()) / scale,
                                                    (y - position.y()) / scale, 0),
                            along = rotation.transpose() * Eigen::Vector3d::UnitZ();
      const double a = along.cwiseProduct(squares).dot(along),
                   b = along.cwiseProduct(squares).dot(start),
                   c = start.cwiseProduct(squares).dot(start) - 1;
      double grey = behind;
      if (b * b > a * c) {
        const Eigen::Vector3d hit = start + (-b - std::sqrt(b * b - a * c)) / a * along;
        if (hit.z() < 0 && std::hypot(hit.x() / kA, hit.y() / kB) < edge)
          grey = texture(hit.x(), hit.y());
      }
      picture(x, y) = static_cast<std::uint8_t>(std::lround(grey));
    }
  return picture;
}

constexpr int kSize = 260;
constexpr double kScale = 60;
const Eigen::Vector2d kMiddle(130, 128);

/// The ellipsoid as the camera sees it, and its points.
Shape seen_points(const pose::Points3& points, const Eigen::Matrix3d& rotation) {
  return ((kScale * (rotation * points).topRows<2>()).colwise() + kMiddle).cast<float>();
}
image::Image<std::uint8_t> frontal() {
  return look(Eigen::Matrix3d::Identity(), kScale, kMiddle, kSize, 40);
}
Eigen::Matrix3d rotation_of(double yaw, double pitch) {
  return pose::from_yaw_pitch_roll({yaw, pitch, 0}).toRotationMatrix();
}

Shape shaken(Shape shape, double by) {
  Random random(1, "shaken");
  for (Index p = 0; p < shape.cols(); ++p)
    shape.col(p) += static_cast<float>(by) * Eigen::Vector2f(static_cast<float>(random.normal()),
                                                             static_cast<float>(random.normal()));
  return shape;
}

TEST(ATurnedFace, IsTheSameAfterATurnByNothing) {
  const Ellipsoid head;
  const auto picture = frontal();
  const Shape points = shaken(seen_points(head.points, rotation_of(12, -8)), 2);
  const TurnedFace turned = head.turner().turn(picture, points, 0, 0);
  for (Index p = 0; p < points.cols(); ++p) {
    const auto& outline = head.outline;
    // Points of the outline that were labelled inside it move out to it.
    if (std::count(outline.begin(), outline.end(), static_cast<int>(p)) > 0) continue;
    EXPECT_LT((turned.points.col(p) - points.col(p)).norm(), 1e-3) << p;
  }
  int most = 0;
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < kSize; ++x)
      most = std::max(most, std::abs(int(turned.picture(x, y)) - int(picture(x, y))));
  EXPECT_LE(most, 1);
}

TEST(ATurnedFace, IsWhatACameraSeesOfTheTurnedHead) {
  const Ellipsoid head;
  for (const auto& [yaw, pitch] : {std::pair(30.0, 0.0), {-45.0, 0.0}, {20.0, 20.0}}) {
    const Shape points = seen_points(head.points, Eigen::Matrix3d::Identity());
    const TurnedFace turned = head.turner().turn(frontal(), points, yaw, pitch);
    // The mean of the points stays where it is, outline that slides apart.
    const Eigen::Vector3d mean = head.points.rowwise().mean();
    const Eigen::Vector2d stays =
        kMiddle + kScale * (mean - rotation_of(yaw, pitch) * mean).head<2>();
    const Shape expected =
        ((kScale * (rotation_of(yaw, pitch) * head.points).topRows<2>()).colwise() + stays)
            .cast<float>();
    for (Index p = 0; p < head.outline.front(); ++p)
      EXPECT_LT((turned.points.col(p) - expected.col(p)).norm(), 0.03 * kScale) << p;
    const auto drawn = look(rotation_of(yaw, pitch), kScale, stays, kSize, 0, 0.85);
    double sum = 0, count = 0;
    for (int y = 0; y < kSize; ++y)
      for (int x = 0; x < kSize; ++x) {
        if (drawn(x, y) == 0) continue;
        sum += std::abs(int(drawn(x, y)) - int(turned.picture(x, y)));
        ++count;
      }
    EXPECT_GT(count, 6000);
    EXPECT_LT(sum / count, 5) << yaw << " " << pitch;  // the texture has an amplitude of 60
  }
}

TEST(ATurnedFace, TellsWhichPointsTheHeadHides) {
  const Ellipsoid head;
  const TurnedFace turned =
      head.turner().turn(frontal(), seen_points(head.points, Eigen::Matrix3d::Identity()), 60, 0);
  int hidden = 0;
  for (Index p = 0; p < head.points.cols(); ++p) {
    const Eigen::Vector3d at = head.points.col(p);
    const Eigen::Vector3d normal =
        (rotation_of(60, 0) *
         Eigen::Vector3d(at.x() / (kA * kA), at.y() / (kB * kB), at.z() / (kC * kC)))
            .normalized();
    if (std::abs(normal.z()) < 0.3) continue;  // near the silhouette
    EXPECT_EQ(turned.hidden[static_cast<std::size_t>(p)], normal.z() > 0) << p;
    hidden += normal.z() > 0;
  }
  EXPECT_GE(hidden, 4);
}

TEST(ATurnedFace, HasItsFarOutlineWhereItIsSeen) {
  const Ellipsoid head;
  const double angle = 50 * std::numbers::pi / 180;
  const TurnedFace turned =
      head.turner().turn(frontal(), seen_points(head.points, Eigen::Matrix3d::Identity()), 50, 0);
  const double stays = kMiddle.x() + kScale * (head.points.row(0).mean() -
                                               (rotation_of(50, 0) * head.points).row(0).mean());
  for (const int p : head.outline) {
    const double x = head.points(0, p), y = head.points(1, p);
    if (x < 0.2) continue;
    // A section at the height y is an ellipse with these half axes.
    const double part = std::sqrt(std::max(0.0, 1 - y * y / (kB * kB)));
    const double farthest =
        part * std::hypot(kA * std::cos(angle), kC * std::sin(angle)) * kScale + stays;
    EXPECT_NEAR(turned.points(0, p), farthest, 0.06 * kScale) << p;
    EXPECT_NEAR(turned.points(1, p), kMiddle.y() + kScale * y, 0.06 * kScale) << p;
  }
}

TEST(ATurnedFace, IsMirroredWhereItsPictureAndTurnAre) {
  const Ellipsoid head;
  const auto picture = look(rotation_of(10, 5), kScale, kMiddle, kSize, 40);
  const Shape points = shaken(seen_points(head.points, rotation_of(10, 5)), 1);
  image::Image<std::uint8_t> flipped(kSize, kSize);
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < kSize; ++x) flipped(x, y) = picture(kSize - 1 - x, y);
  Shape other = points;
  const auto partner = [&](Index p) {
    return static_cast<Index>(head.mirror[static_cast<std::size_t>(p)]);
  };
  for (Index p = 0; p < points.cols(); ++p)
    other.col(partner(p)) << kSize - 1 - points(0, p), points(1, p);
  const TurnedFace turned = head.turner().turn(picture, points, 35, -10),
                   mirror = head.turner().turn(flipped, other, -35, -10);
  for (Index p = 0; p < points.cols(); ++p) {
    EXPECT_NEAR(mirror.points(0, partner(p)), kSize - 1 - turned.points(0, p), 0.05) << p;
    EXPECT_NEAR(mirror.points(1, partner(p)), turned.points(1, p), 0.05) << p;
    EXPECT_EQ(mirror.hidden[static_cast<std::size_t>(partner(p))],
              turned.hidden[static_cast<std::size_t>(p)]);
  }
  double sum = 0;
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < kSize; ++x)
      sum += std::abs(int(mirror.picture(x, y)) - int(turned.picture(kSize - 1 - x, y)));
  EXPECT_LT(sum / (kSize * kSize), 0.1);
}

TEST(ATurnedFace, LacksWhatWasNotKnown) {
  const Ellipsoid head;
  Shape points = seen_points(head.points, Eigen::Matrix3d::Identity());
  const TurnedFace whole = head.turner().turn(frontal(), points, 30, 0);
  points.col(5).setConstant(std::numeric_limits<float>::quiet_NaN());
  const TurnedFace turned = head.turner().turn(frontal(), points, 30, 0);
  EXPECT_TRUE(turned.points.col(5).array().isNaN().all());
  EXPECT_LT((turned.points.col(6) - whole.points.col(6)).norm(), 3);
}

TEST(ATurnedFace, IsRefusedWithAReason) {
  const Ellipsoid head;
  const FaceTurner turner = head.turner();
  const Shape points = seen_points(head.points, Eigen::Matrix3d::Identity());
  EXPECT_THAT(why([&] { turner.turn({}, points, 10, 0); }), HasSubstr("picture is empty"));
  EXPECT_THAT(why([&] { turner.turn(frontal(), points.leftCols(5), 10, 0); }),
              HasSubstr("5 image points"));
  EXPECT_THAT(why([&] { turner.turn(frontal(), points, 90, 0); }),
              HasSubstr("expected at most 85"));
  EXPECT_THAT(why([&] { turner.turn(frontal(), points, 0, std::nan("")); }),
              HasSubstr("expected at most 85"));
  EXPECT_THAT(why([&] { FaceTurner(head.points.cast<float>(), {}, {100}); }),
              HasSubstr("the outline has a point 100, expected 0 to 47"));
  pose::Points3 flat = head.points;
  flat.row(2).setZero();
  EXPECT_THAT(why([&] { FaceTurner(flat.cast<float>()); }), HasSubstr("one plane"));
}

/// Heads that look a little aside.
std::vector<TrainingFace> heads(const Ellipsoid& head, int count, double most, double least = 0) {
  std::vector<TrainingFace> faces;
  for (int i = 0; i < count; ++i) {
    Random random(3, "heads", static_cast<std::uint64_t>(i));
    const Eigen::Matrix3d rotation =
        rotation_of(random.sign() * random.uniform(least, most), random.uniform(-0.5, 0.5) * most);
    TrainingFace face;
    face.picture = look(rotation, kScale, kMiddle, kSize, random.uniform(20, 70));
    face.truth = seen_points(head.points, rotation);
    const Eigen::AlignedBox2f box = bounds(face.truth);
    face.boxes = {{box.min().x(), box.min().y(), box.sizes().x(), box.sizes().x()}};
    faces.push_back(std::move(face));
  }
  return faces;
}

TrainerOptions head_options(const Ellipsoid& head) {
  TrainerOptions options;
  options.recipe.unit = 24;
  options.recipe.stages = {{2, 6, true}, {2, 4, true}};
  options.starts = 1;
  options.penalties = {0.03};
  options.outline = head.outline;
  return options;
}

TEST(TurnedCopies, StandBehindTheFacesAndBelongToTheirGroups) {
  const Ellipsoid head;
  std::vector<TrainingFace> faces = heads(head, 12, 25);
  faces[3].group = 77;
  TrainerOptions options = head_options(head);
  options.mirror = head.mirror;
  EXPECT_TRUE(with_turned_copies(faces, options).empty());
  options.turned = 2;
  options.threads = 1;
  const std::vector<TrainingFace> all = with_turned_copies(faces, options);
  ASSERT_EQ(all.size(), 36);
  EXPECT_EQ(all[0].group, -1);
  EXPECT_EQ(all[12].group, 0);
  EXPECT_EQ(all[15].group, 77);
  EXPECT_EQ(all[27].group, 77);
  EXPECT_EQ(all[35].group, 11);
  EXPECT_GT((all[12].truth - all[24].truth).norm(), 1);  // every copy is turned otherwise
  const pose::HeadPoseEstimator estimator(head.points);
  double farthest = 0;
  for (std::size_t i = 12; i < all.size(); ++i) {
    const double own = estimator.estimate(faces[i % 12].truth.cast<double>()).yaw,
                 yaw = estimator.estimate(all[i].truth.cast<double>()).yaw;
    if (std::abs(own) > 8) {
      EXPECT_GT(yaw * own, 0);
    }
    EXPECT_LT(std::abs(yaw), 85);
    farthest = std::max(farthest, std::abs(yaw));
    EXPECT_EQ(all[i].boxes[0].width, faces[i % 12].boxes[0].width);
  }
  EXPECT_GT(farthest, 40);
  options.threads = 2;
  const std::vector<TrainingFace> again = with_turned_copies(faces, options);
  EXPECT_EQ(again[20].truth, all[20].truth);
  EXPECT_EQ(again[20].picture(100, 90), all[20].picture(100, 90));
}

TEST(TurnedCopies, LowerTheErrorOfFacesThatLookAside) {
  const Ellipsoid head;
  const std::vector<TrainingFace> faces = heads(head, 40, 20), aside = heads(head, 20, 50, 40);
  TrainerOptions options = head_options(head);
  const double without = train(faces, aside, options).dev_error;
  options.turned = 2;
  const TrainedFace trained = train(faces, aside, options);
  EXPECT_LT(trained.dev_error, 0.8 * without);
}

TEST(TurnedCopies, AreRefusedWhereTheDepthIsNotKnown) {
  const Ellipsoid head;
  TrainerOptions options = head_options(head);
  options.turned = 1;
  EXPECT_THAT(why([&] { train(heads(head, 3, 10), {}, options); }),
              HasSubstr("turned copies need the points in space"));
  options.turned = -1;
  EXPECT_THAT(why([&] { options.validate(); }), HasSubstr("-1 turned copies"));
}

}  // namespace
}  // namespace sdm::face
