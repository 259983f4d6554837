#include "sdm/pose/train/rigid_shape.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "sdm/base/error.h"
#include "sdm/pose/head_pose.h"
#include "tests/pose/head.h"

namespace sdm::pose {
namespace {

using test::head;

const std::vector<int> mirror = {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 10, 11};

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
    Points2 points = test::image(shape, turn, 60 + 20 * even(engine));
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

}  // namespace
}  // namespace sdm::pose
