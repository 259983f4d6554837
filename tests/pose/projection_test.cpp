#include "sdm/pose/projection.h"

#include <gmock/gmock.h>

#include "sdm/base/error.h"
#include "tests/pose/samples.h"

namespace sdm::pose {
namespace {

TEST(Projection, IsTheCameraMatrixTimesTheMovedPointsDividedByDepth) {
  const Camera camera{900, 1100, 480, 510};
  Eigen::Matrix3d k;
  k << camera.fx, 0, camera.cx, 0, camera.fy, camera.cy, 0, 0, 1;
  for (const Pose& pose : test::random_poses(5, 60, 400, 1)) {
    const Points3 g1 = k * transform(pose, cube());
    const Points2 g2 = g1.topRows<2>().array().rowwise() / g1.row(2).array();
    EXPECT_TRUE(project(cube(), pose, camera).isApprox(g2, 1e-13));
  }
}

TEST(Projection, APointBehindTheCameraIsNotSeen) {
  Points3 points(3, 3);
  points << 1, 1, 1, 0, 0, 0, 5, 0, -5;
  const Points2 image = project(points, Pose());
  EXPECT_NEAR(image(0, 0), 0.2, 1e-15);
  EXPECT_TRUE(image.rightCols<2>().array().isNaN().all());
}

TEST(Projection, TheErrorIsTheRootMeanSquareDistanceOfTheSeenPoints) {
  const Camera camera;
  const Pose pose{Rotation::Identity(), {0, 0, 2000}};
  Points2 image = project(cube(), pose, camera);
  image.col(0) += Eigen::Vector2d(3, 4);
  image(1, 5) = std::numeric_limits<double>::quiet_NaN();
  const Estimate estimate = evaluate(cube(), camera, image, pose);
  EXPECT_EQ(estimate.points, 7);
  EXPECT_NEAR(estimate.reprojection_error, std::sqrt(25.0 / 7), 1e-12);
}

TEST(Projection, TheErrorOfAPoseBehindTheCameraIsInfinite) {
  const Pose ahead{Rotation::Identity(), {0, 0, 2000}}, behind{Rotation::Identity(), {0, 0, -2000}};
  const Camera camera;
  EXPECT_TRUE(std::isinf(
      evaluate(cube(), camera, project(cube(), ahead, camera), behind).reprojection_error));
}

TEST(Projection, TheNumberOfPointsMustMatch) {
  EXPECT_THAT([] { evaluate(cube(), Camera(), Points2::Zero(2, 5), Pose()); },
              testing::ThrowsMessage<Error>("5 image points for an object of 8 points, expected "
                                            "one for each"));
}

}  // namespace
}  // namespace sdm::pose
