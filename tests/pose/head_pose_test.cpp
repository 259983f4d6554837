#include "sdm/pose/head_pose.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "sdm/base/error.h"
#include "sdm/pose/train/rigid_shape.h"
#include "tests/pose/head.h"

namespace sdm::pose {
namespace {

using test::head;

TEST(HeadPose, GivesBackTheAnglesItWasDrawnWith) {
  const HeadPoseEstimator estimator(head());
  for (const double yaw : {-85.0, -40.0, 0.0, 20.0, 70.0})
    for (const double pitch : {-50.0, 0.0, 30.0})
      for (const double roll : {-120.0, 0.0, 45.0}) {
        const Rotation turn = from_yaw_pitch_roll({yaw, pitch, roll});
        Points2 pixels = test::image(head(), turn, 70);
        pixels.col(3).setConstant(std::nan(""));
        const HeadPose found = estimator.estimate(pixels);
        EXPECT_NEAR(found.yaw, yaw, 1e-6);
        EXPECT_NEAR(found.pitch, pitch, 1e-6);
        EXPECT_NEAR(found.roll, roll, 1e-6);
        EXPECT_NEAR(found.scale, 70, 1e-6);
        EXPECT_LT((found.position - Eigen::Vector2d(200, 150)).norm(), 1e-6);
        EXPECT_LT(found.reprojection_error, 1e-6);
      }
}

TEST(HeadPose, HasTheSignsItsHeaderTells) {
  const auto nose = [](double yaw, double pitch, double roll) -> Eigen::Vector3d {
    return from_yaw_pitch_roll({yaw, pitch, roll}) * Eigen::Vector3d(0, 0, -1);
  };
  EXPECT_GT(nose(30, 0, 0).x(), 0);
  EXPECT_LT(nose(0, 30, 0).y(), 0);
  EXPECT_GT((from_yaw_pitch_roll({0, 0, 30}) * Eigen::Vector3d(1, 0, 0)).y(), 0);
}

TEST(HeadPose, RefusesBadInput) {
  Points3 flat = head();
  flat.row(2).setZero();
  EXPECT_THROW(HeadPoseEstimator{flat}, Error);
  EXPECT_THROW(HeadPoseEstimator(head(), Eigen::VectorXd::Ones(3)), Error);
  EXPECT_THROW(HeadPoseEstimator(head(), -Eigen::VectorXd::Ones(12)), Error);
  const HeadPoseEstimator estimator(head());
  EXPECT_THROW(estimator.estimate(Points2::Zero(2, 5)), Error);
  EXPECT_THROW(estimator.estimate(Points2::Constant(2, 12, 7)), Error);
  EXPECT_THROW(estimator.estimate(Points2::Constant(2, 12, std::nan(""))), Error);
}

TEST(HeadPose, IsNothingWhereThePointsTellNone) {
  const HeadPoseEstimator estimator(head());
  const Points2 good = test::image(head(), from_yaw_pitch_roll({20, 10, 5}), 70);
  ASSERT_TRUE(estimator.try_estimate(good).has_value());
  EXPECT_NEAR(estimator.try_estimate(good)->yaw, 20, 1e-6);
  Points2 few = good, infinite = good;
  few.rightCols(9).setConstant(std::nan(""));
  infinite(0, 2) = std::numeric_limits<double>::infinity();
  for (const Points2& points : {few, infinite, Points2(Points2::Constant(2, 12, 7)),
                                Points2(Points2::Constant(2, 12, std::nan("")))}) {
    EXPECT_FALSE(estimator.try_estimate(points).has_value());
    EXPECT_THROW(estimator.estimate(points), Error);
  }
  const HeadPoseEstimator without_weights(head(), Eigen::VectorXd::Zero(12));
  EXPECT_FALSE(without_weights.try_estimate(good).has_value());
  EXPECT_THROW(estimator.try_estimate(Points2::Zero(2, 5)), Error);
}

/// The numbers of a CSV after its heading and the name in the first column.
std::vector<Eigen::VectorXd> read_rows(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<Eigen::VectorXd> rows;
  std::string line, cell;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::vector<double> values;
    std::getline(cells, cell, ',');
    while (std::getline(cells, cell, ',')) values.push_back(std::stod(cell));
    rows.emplace_back(Eigen::Map<Eigen::VectorXd>(values.data(), Eigen::Index(values.size())));
  }
  return rows;
}

TEST(HeadPose, TellsTheYawOfRealFacesFromAShapeLearnedFromOthers) {
  const std::filesystem::path data = SDM_SHARED_DATA;
  if (!std::filesystem::exists(data / "pose/head_pose_dev.csv"))
    GTEST_SKIP() << "skipped: needs ../shared/data";
  std::vector<Points2> faces;
  for (const Eigen::VectorXd& row : read_rows(data / "faces/train.csv"))
    if (faces.size() < 1500) faces.push_back(row.reshaped(2, 68));
  const RigidShape shape = learn_rigid_shape(faces);
  const HeadPoseEstimator estimator(shape.points, shape.weights);
  double sum = 0, count = 0;
  for (const Eigen::VectorXd& row : read_rows(data / "pose/head_pose_dev.csv")) {
    if (std::abs(row[0]) > 45) continue;
    sum += std::abs(estimator.estimate(row.tail(136).reshaped(2, 68)).yaw - row[0]);
    ++count;
  }
  EXPECT_LT(sum / count, 3.5);
}

}  // namespace
}  // namespace sdm::pose
