#include "sdm/pose/refine.h"

#include <gmock/gmock.h>

#include "sdm/base/error.h"
#include "tests/pose/samples.h"

namespace sdm::pose {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Pose near_to(const Pose& pose) {
  return {step(pose.rotation, {0.1, -0.12, 0.08}), pose.translation + Eigen::Vector3d(40, -30, 90)};
}

TEST(Refine, FindsThePoseOfAnImageWithoutNoise) {
  for (const Pose& pose : test::random_poses(20, 90, 400, 1)) {
    const Estimate found =
        refine(cube(), Camera(), project(cube(), pose, Camera()), near_to(pose), {8, 0});
    EXPECT_LT(test::rotation_error(found.pose, pose), 1e-6);
    EXPECT_LT(test::translation_error(found.pose, pose), 1e-6);
    EXPECT_LT(found.reprojection_error, 1e-8);
    EXPECT_EQ(found.points, 8);
  }
}

TEST(Refine, EndsWhereNoSmallMoveLowersTheError) {
  std::mt19937 engine(2);
  const Camera camera;
  for (const Pose& pose : test::random_poses(5, 60, 400, 2)) {
    const Points2 image = test::noisy_image(cube(), pose, camera, 2, engine);
    const Estimate found = refine(cube(), camera, image, near_to(pose), {15, 0});
    for (int axis = 0; axis < 6; ++axis)
      for (const double size : {-1e-3, 1e-3}) {
        Pose moved = found.pose;
        if (axis < 3)
          moved.rotation = step(moved.rotation, Eigen::Vector3d::Unit(axis) * size);
        else
          moved.translation += Eigen::Vector3d::Unit(axis - 3) * size * 2000;
        EXPECT_GT(evaluate(cube(), camera, image, moved).reprojection_error,
                  found.reprojection_error);
      }
  }
}

TEST(Refine, AnObjectFarFromItsOriginIsNoHarder) {
  const Points3 object = cube().colwise() + Eigen::Vector3d(3000, -2000, 500);
  for (Pose pose : test::random_poses(5, 40, 300, 3)) {
    const Eigen::Vector3d centre(3000, -2000, 500);
    pose.translation -= pose.rotation * centre;
    Pose start = pose;
    start.rotation = step(pose.rotation, {0.05, 0.08, -0.06});
    start.translation += pose.rotation * centre - start.rotation * centre;
    const Estimate found = refine(object, Camera(), project(object, pose, Camera()), start, {8, 0});
    EXPECT_LT(found.reprojection_error, 1e-7);
  }
}

TEST(Refine, NeverEndsWorseThanItsStart) {
  std::mt19937 engine(4);
  const Pose pose{Rotation::Identity(), {0, 0, 2000}};
  const Pose far{from_euler({2.5, 0.4, 1}), {300, 300, 900}};
  const Points2 image = test::noisy_image(cube(), pose, Camera(), 2, engine);
  EXPECT_LE(refine(cube(), Camera(), image, far, {3, 0}).reprojection_error,
            evaluate(cube(), Camera(), image, far).reprojection_error);
}

TEST(Refine, MissingPointsAreLeftOut) {
  const Pose pose = test::random_poses(1, 30, 400, 5).front();
  Points2 image = project(cube(), pose, Camera());
  image(0, 2) = image(1, 6) = image(0, 7) = nan;
  const Estimate found = refine(cube(), Camera(), image, near_to(pose), {10, 0});
  EXPECT_EQ(found.points, 5);
  EXPECT_LT(test::rotation_error(found.pose, pose), 1e-6);
}

TEST(Refine, OutliersLoseTheirSay) {
  std::mt19937 engine(6);
  const Points3 object = Points3::Random(3, 30) * 150;
  for (const Pose& pose : test::random_poses(20, 30, 400, 6)) {
    const Points2 clean = test::noisy_image(object, pose, Camera(), 1, engine);
    Points2 image = clean, without = clean;
    for (int i = 0; i < 9; ++i) {
      image.col(i) += Eigen::Vector2d::Random() * 300;
      without.col(i).setConstant(nan);
    }
    const Estimate robust = refine(object, Camera(), image, near_to(pose), {5, 6});
    const Estimate ideal = refine(object, Camera(), without, near_to(pose), {10, 0});
    // As good as if somebody had pointed out the outliers, within what the noise allows.
    EXPECT_LT(test::rotation_error(robust.pose, ideal.pose), 0.5);
    EXPECT_GE(robust.points, 19);
    EXPECT_LE(robust.points, 23);  // a random outlier may land near its place
  }
}

TEST(Refine, WithoutOutliersTheRobustAnswerIsLeastSquares) {
  std::mt19937 engine(7);
  const Pose pose = test::random_poses(1, 30, 400, 7).front();
  const Points2 image = test::noisy_image(cube(), pose, Camera(), 0.5, engine);
  const Estimate plain = refine(cube(), Camera(), image, near_to(pose), {10, 0});
  const Estimate robust = refine(cube(), Camera(), image, near_to(pose), {10, 20});
  EXPECT_EQ(robust.points, 8);
  EXPECT_LT(test::rotation_error(plain.pose, robust.pose), 1e-6);
}

TEST(Refine, BadInputsAreRejected) {
  const Pose pose{Rotation::Identity(), {0, 0, 2000}};
  Points2 image = project(cube(), pose, Camera());
  EXPECT_THROW(refine(cube(), Camera(), image, pose, {-1, 0}), Error);
  EXPECT_THROW(refine(cube(), Camera(), image, pose, {1, -2}), Error);
  EXPECT_THROW(refine(cube(), Camera(), image.leftCols(5), pose), Error);
  Points2 infinite = image;
  infinite(0, 3) = std::numeric_limits<double>::infinity();
  EXPECT_THAT([&] { refine(cube(), Camera(), infinite, pose); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("image point 3 is infinite")));
  image.leftCols(5).setConstant(nan);
  EXPECT_THAT([&] { refine(cube(), Camera(), image, pose); },
              testing::ThrowsMessage<Error>("3 of 8 image points are seen, expected at least 4"));
}

}  // namespace
}  // namespace sdm::pose
