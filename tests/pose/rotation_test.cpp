#include "sdm/pose/rotation.h"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

namespace sdm::pose {
namespace {

constexpr double pi = std::numbers::pi;

class RotationProperties : public testing::TestWithParam<unsigned> {
 protected:
  Rotation draw() {
    std::normal_distribution<double> normal;
    const double w = normal(engine_), x = normal(engine_), y = normal(engine_), z = normal(engine_);
    return Rotation(w, x, y, z).normalized();
  }
  Eigen::Vector3d draw_vector() {
    std::uniform_real_distribution<double> even(-2, 2);
    const double x = even(engine_), y = even(engine_), z = even(engine_);
    return {x, y, z};
  }
  std::mt19937 engine_{GetParam()};
};

TEST_P(RotationProperties, ADifferenceIsAStepToTheTarget) {
  const Rotation a = draw(), b = draw();
  EXPECT_LT(angle_between(step(a, difference(a, b)), b), 1e-7);
}

TEST_P(RotationProperties, AStepIsTheDifferenceItMakes) {
  const Rotation a = draw();
  const Eigen::Vector3d delta = draw_vector();
  EXPECT_TRUE(difference(a, step(a, delta)).isApprox(delta, 1e-9));
}

TEST_P(RotationProperties, ASteppedRotationIsOrthonormalWithDeterminantOne) {
  const Eigen::Matrix3d q = step(draw(), draw_vector()).toRotationMatrix();
  EXPECT_TRUE((q * q.transpose()).isApprox(Eigen::Matrix3d::Identity(), 1e-12));
  EXPECT_NEAR(q.determinant(), 1, 1e-12);
}

TEST_P(RotationProperties, NoStepIsTheIdentityAndABackwardStepTheInverse) {
  const Rotation a = draw();
  const Eigen::Vector3d delta = draw_vector();
  EXPECT_LT(angle_between(step(a, Eigen::Vector3d::Zero()), a), 1e-7);
  EXPECT_LT(angle_between(step(step(a, delta), -delta), a), 1e-7);
}

TEST_P(RotationProperties, AStepCommutesWithARotationOfTheObject) {
  // step acts on the camera's side: step(a b, d) = step(a, d) b.
  const Rotation a = draw(), b = draw();
  const Eigen::Vector3d delta = draw_vector();
  EXPECT_LT(angle_between(step(a * b, delta), step(a, delta) * b), 1e-7);
}

TEST_P(RotationProperties, ASmallStepIsARotationVector) {
  const Eigen::Vector3d delta = draw_vector() * 1e-4;
  const Rotation exact(Eigen::AngleAxisd(delta.norm(), delta.normalized()));
  EXPECT_LT(angle_between(step(Rotation::Identity(), delta), exact), 1e-11);
}

TEST_P(RotationProperties, EulerAnglesComeBack) {
  std::uniform_real_distribution<double> wide(-pi, pi), narrow(-pi / 2, pi / 2);
  const double x = wide(engine_), y = narrow(engine_), z = wide(engine_);
  EXPECT_TRUE(to_euler(from_euler({x, y, z})).isApprox(Eigen::Vector3d(x, y, z), 1e-7));
  const Rotation a = draw();
  EXPECT_LT(angle_between(from_euler(to_euler(a)), a), 1e-7);
}

TEST_P(RotationProperties, TheAngleIsThatOfTheTrace) {
  const Rotation a = draw(), b = draw();
  const double trace = (a.toRotationMatrix() * b.toRotationMatrix().transpose()).trace();
  EXPECT_NEAR(angle_between(a, b), std::acos(std::clamp((trace - 1) / 2, -1.0, 1.0)), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Random, RotationProperties, testing::Range(1u, 9u));

TEST(Rotation, EulerAnglesAreRzRyRx) {
  const double x = 0.3, y = -0.7, z = 1.1;
  Eigen::Matrix3d rx, ry, rz;
  rx << 1, 0, 0, 0, cos(x), -sin(x), 0, sin(x), cos(x);
  ry << cos(y), 0, sin(y), 0, 1, 0, -sin(y), 0, cos(y);
  rz << cos(z), -sin(z), 0, sin(z), cos(z), 0, 0, 0, 1;
  EXPECT_TRUE(from_euler({x, y, z}).toRotationMatrix().isApprox(rz * ry * rx, 1e-14));
}

TEST(Rotation, AtTheGimbalLockTheRotationStillComesBack) {
  for (const double y : {pi / 2, -pi / 2}) {
    const Rotation a = from_euler({0.4, y, -0.9});
    EXPECT_LT(angle_between(from_euler(to_euler(a)), a), 1e-6);
  }
}

}  // namespace
}  // namespace sdm::pose
