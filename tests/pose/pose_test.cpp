#include "sdm/pose/pose.h"

#include <gtest/gtest.h>

#include "tests/pose/samples.h"

namespace sdm::pose {
namespace {

TEST(Pose, ComposingIsMovingTwice) {
  const auto poses = test::random_poses(2, 180, 500, 3);
  const Points3 points = Points3::Random(3, 6);
  EXPECT_TRUE(transform(compose(poses[0], poses[1]), points)
                  .isApprox(transform(poses[0], transform(poses[1], points)), 1e-12));
}

TEST(Pose, TheInverseMovesBack) {
  const Points3 points = Points3::Random(3, 6);
  for (const Pose& pose : test::random_poses(5, 180, 500, 4))
    EXPECT_TRUE(transform(inverse(pose), transform(pose, points)).isApprox(points, 1e-9));
}

TEST(Pose, CompositionIsAssociative) {
  const auto p = test::random_poses(3, 180, 500, 5);
  const Pose left = compose(compose(p[0], p[1]), p[2]), right = compose(p[0], compose(p[1], p[2]));
  EXPECT_LT(test::rotation_error(left, right), 1e-6);
  EXPECT_LT(test::translation_error(left, right), 1e-9);
}

}  // namespace
}  // namespace sdm::pose
