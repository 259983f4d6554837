#include "sdm/pose/head_pose.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "sdm/error.h"
#include "sdm/pose/object.h"
#include "sdm/pose/projection.h"
#include "sdm/pose/rigid_shape.h"

namespace sdm::pose {
namespace {

/// Five pairs of points and two on the mirror's plane, of which point 10 is a nose.
Points3 head() {
  Points3 points(3, 12);
  points << -1.2, 1.2, -0.8, 0.8, -0.3, 0.3, -0.5, 0.5, -1, 1, 0, 0,     //
      -0.6, -0.6, -0.65, -0.65, -0.6, -0.6, 0.5, 0.5, 0.7, 0.7, 0, 1.2,  //
      0.9, 0.9, 0.1, 0.1, 0, 0, 0, 0, 0.6, 0.6, -0.7, 0.1;
  points.colwise() -= points.rowwise().mean().eval();
  return points / std::sqrt(points.squaredNorm() / 12);
}
const std::vector<int> mirror = {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 10, 11};

Points2 image(const Points3& shape, const Rotation& rotation, double scale) {
  Points2 points = scale * (rotation.toRotationMatrix() * shape).topRows<2>();
  return points.colwise() + Eigen::Vector2d(200, 150);
}

std::vector<Points2> views(int count, double noise, double jaw_jitter, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> even(-1, 1);
  std::normal_distribution<double> normal;
  std::vector<Points2> all;
  Eigen::Vector3d angles;
  for (int v = 0; v < count; ++v) {
    // In pairs of opposite angles, so that the mean view is frontal.
    if (v % 2 == 0) angles = {45 * even(engine), 25 * even(engine), 15 * even(engine)};
    const Rotation turn = from_yaw_pitch_roll(v % 2 == 0 ? angles : Eigen::Vector3d(-angles));
    Points3 shape = head();
    for (const int p : {8, 9, 11}) shape(1, p) += jaw_jitter * normal(engine);
    Points2 points = image(shape, turn, 60 + 20 * even(engine));
    for (double& value : points.reshaped()) value += noise * normal(engine);
    all.push_back(points);
  }
  return all;
}

TEST(RigidShape, IsRecoveredExactlyFromViewsWithoutNoise) {
  for (const auto& partners : {mirror, std::vector<int>{}}) {
    RigidShapeOptions options;
    options.mirror = partners;
    options.front = 10;
    options.iterations = 200;
    const RigidShape shape = learn_rigid_shape(views(200, 0, 0, 1), options);
    // The mean of rotations drawn at random is identity only nearly.
    const Eigen::Matrix3Xd& found = shape.points;
    EXPECT_LT((found - head()).cwiseAbs().maxCoeff(), 0.03);
    const Eigen::MatrixXd distances = found.transpose() * found;
    EXPECT_LT((distances - head().transpose() * head()).cwiseAbs().maxCoeff(), 1e-3);
    EXPECT_LT(shape.residual, 1e-3);
  }
}

TEST(RigidShape, StandsUpToNoiseAndToPointsThatMoveByThemselves) {
  RigidShapeOptions options;
  options.mirror = mirror;
  const RigidShape shape = learn_rigid_shape(views(600, 1, 0.15, 2), options);
  EXPECT_LT((shape.points - head()).cwiseAbs().maxCoeff(), 0.06);
  EXPECT_LT(shape.weights[11], shape.weights[10] / 2) << "the chin moves, the nose does not";
  EXPECT_NEAR(shape.weights.mean(), 1, 1e-9);
}

TEST(RigidShape, IsExactlySymmetricAndInItsGauge) {
  RigidShapeOptions options;
  options.mirror = mirror;
  const Points3 found = learn_rigid_shape(views(100, 2, 0.1, 3), options).points;
  for (Eigen::Index p = 0; p < found.cols(); ++p) {
    const auto q = mirror[static_cast<std::size_t>(p)];
    EXPECT_EQ(found(0, p), -found(0, q));
    EXPECT_EQ(found(1, p), found(1, q));
    EXPECT_EQ(found(2, p), found(2, q));
  }
  EXPECT_LT(found.rowwise().mean().norm(), 1e-12);
  EXPECT_NEAR(found.squaredNorm() / 12, 1, 1e-12);
  EXPECT_LT(found(2, 10), 0) << "the nose stands out towards the camera";
}

TEST(RigidShape, IsLearnedFromViewsWithMissingPoints) {
  std::vector<Points2> some = views(300, 0.5, 0, 4);
  for (std::size_t v = 0; v < some.size(); v += 2)
    some[v].col(static_cast<Eigen::Index>(v / 2 % 12)).setConstant(std::nan(""));
  RigidShapeOptions options;
  options.mirror = mirror;
  EXPECT_LT((learn_rigid_shape(some, options).points - head()).cwiseAbs().maxCoeff(), 0.06);
}

TEST(RigidShape, NamesWhatIsWrongWithItsViews) {
  const auto message = [](const std::vector<Points2>& all, const RigidShapeOptions& options) {
    try {
      learn_rigid_shape(all, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  using testing::HasSubstr;
  std::vector<Points2> good = views(20, 0, 0, 5);
  EXPECT_THAT(message({}, {}), HasSubstr("0 points"));
  EXPECT_THAT(message({good.begin(), good.begin() + 3}, {}), HasSubstr("3 views"));
  RigidShapeOptions options;
  options.mirror = {1, 0};
  EXPECT_THAT(message(good, options), HasSubstr("the mirror has 2 points"));
  options.mirror = mirror;
  options.mirror[0] = 2;
  EXPECT_THAT(message(good, options), HasSubstr("partner 2"));
  options = {};
  options.front = 12;
  EXPECT_THAT(message(good, options), HasSubstr("front point is 12"));
  EXPECT_THAT(message(std::vector<Points2>(20, good[0]), {}), HasSubstr("depth"));
  good[4].conservativeResize(2, 7);
  EXPECT_THAT(message(good, {}), HasSubstr("view 4 has 7 points"));
}

TEST(HeadPose, GivesBackTheAnglesItWasDrawnWith) {
  const HeadPoseEstimator estimator(head());
  for (const double yaw : {-85.0, -40.0, 0.0, 20.0, 70.0})
    for (const double pitch : {-50.0, 0.0, 30.0})
      for (const double roll : {-120.0, 0.0, 45.0}) {
        const Rotation turn = from_yaw_pitch_roll({yaw, pitch, roll});
        Points2 pixels = image(head(), turn, 70);
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

TEST(HeadPose, StandsBeforeACameraWhereItsImageIs) {
  const Camera camera{1e5, 1e5, 100, 80};  // far away, so that perspective is small
  const HeadPose found =
      HeadPoseEstimator(head()).estimate(image(head(), from_yaw_pitch_roll({20, 10, 5}), 70));
  const Points2 again = project(head(), found.pose(camera), camera);
  EXPECT_LT((again - image(head(), found.rotation, 70)).cwiseAbs().maxCoeff(), 0.5);
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
