#include "pose/state.h"

#include <gtest/gtest.h>

#include "tests/pose/samples.h"

namespace sdm::pose {
namespace {

const Pose centre{Rotation::Identity(), {0, 0, 2000}};

/// A cube that is not centred on its origin.
Points3 offset_cube() { return cube().colwise() + Eigen::Vector3d(30, -80, 50); }

TEST(State, APoseComesBack) {
  const CentredObject centred(offset_cube(), centre);
  for (const Pose& pose : test::random_poses(10, 180, 400, 1)) {
    const Pose back = centred.to_pose(centred.to_state(pose));
    EXPECT_LT(test::rotation_error(back, pose), 1e-6);
    EXPECT_LT(test::translation_error(back, pose), 1e-9);
  }
}

TEST(State, ADifferenceIsAStepToTheTargetEvenInPlace) {
  const CentredObject centred(offset_cube(), centre);
  const auto poses = test::random_poses(20, 80, 400, 2);
  for (std::size_t i = 0; i + 1 < poses.size(); ++i) {
    Vector<double> x = centred.to_state(poses[i]), delta(delta_size), next(state_size);
    const Vector<double> target = centred.to_state(poses[i + 1]);
    state_difference(x, target, delta);
    state_step(x, delta, next);
    state_step(x, delta, x);
    EXPECT_EQ(x, next);
    EXPECT_LT(test::rotation_error(centred.to_pose(x), poses[i + 1]), 1e-6);
    EXPECT_LT(test::translation_error(centred.to_pose(x), poses[i + 1]), 1e-8);
  }
}

TEST(State, FeaturesAreTheScaledReprojectionResidual) {
  const CentredObject centred(offset_cube(), centre);
  const auto poses = test::random_poses(2, 30, 400, 3);
  const Points2 image = project(offset_cube(), poses[1]);
  const Vector<double> x = centred.to_state(poses[0]);
  Vector<double> features(16);
  state_features(centred, image, x, features);
  const Vector<double> residual = (project(offset_cube(), poses[0]) - image).reshaped();
  EXPECT_TRUE(features.isApprox(residual * x[6], 1e-10));
}

}  // namespace
}  // namespace sdm::pose
