#include "sdm/pose/posit.h"

#include <gmock/gmock.h>

#include "sdm/base/error.h"
#include "tests/pose/samples.h"

namespace sdm::pose {
namespace {

class PositReferences : public testing::TestWithParam<Posit::Reference> {};

TEST_P(PositReferences, FindsThePoseOfAnImageWithoutNoise) {
  // Its fixed point is the true pose: with exact perspective corrections the equations are exact.
  const Posit posit(cube(), {200, 1e-13, GetParam()});
  for (const Pose& pose : test::random_poses(50, 60, 400, 7)) {
    const Pose found = posit.estimate(project(cube(), pose));
    EXPECT_LT(test::rotation_error(found, pose), 1e-6);
    EXPECT_LT(test::translation_error(found, pose), 1e-5);
  }
}

TEST_P(PositReferences, ManyPointsWorkLikeFew) {
  const Points3 object = Points3::Random(3, 90) * 150;
  const Posit posit(object, {200, 1e-13, GetParam()});
  for (const Pose& pose : test::random_poses(5, 60, 400, 8))
    EXPECT_LT(test::translation_error(posit.estimate(project(object, pose)), pose), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(All, PositReferences,
                         testing::Values(Posit::Reference::kFirstPoint,
                                         Posit::Reference::kCentroid));

TEST(Posit, APlaneAndAWrongNumberOfPointsAreRejected) {
  Points3 plane = cube();
  plane.row(2).setZero();
  EXPECT_THAT([&] { Posit{plane}; },
              testing::ThrowsMessage<Error>(testing::HasSubstr("one plane")));
  EXPECT_THAT([] { Posit(cube()).estimate(Points2::Zero(2, 7)); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("7 image points")));
}

}  // namespace
}  // namespace sdm::pose
