#include "sdm/pose/train/train_estimator.h"

#include <gmock/gmock.h>

#include "sdm/base/error.h"
#include "sdm/pose/object.h"
#include "tests/pose/samples.h"

namespace sdm::pose {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TrainEstimatorOptions small() {
  TrainEstimatorOptions options;
  options.samples = 800;
  options.stages = 4;
  options.threads = 1;
  return options;
}

TEST(TrainEstimator, EveryStageLowersTheError) {
  const EstimatorTraining training = train_estimator(cube(), small());
  ASSERT_EQ(training.cells.size(), 1u);
  for (const StageSummary& stage : training.cells.front().stages)
    EXPECT_LT(stage.error_after, stage.error_before);
}

TEST(TrainEstimator, TheSameSeedGivesTheSameMapsForAnyNumberOfThreads) {
  TrainEstimatorOptions options = small();
  const io::Model one = train_estimator(cube(), options).estimator.to_model();
  options.threads = 3;
  EXPECT_EQ(train_estimator(cube(), options).estimator.to_model(), one);
  options.seed = 2;
  EXPECT_NE(train_estimator(cube(), options).estimator.to_model(), one);
}

TEST(TrainEstimator, AWideRangeIsSplitAndEveryCellReported) {
  TrainEstimatorOptions options = small();
  options.samples = 200;
  options.range.rotation_degrees = {60, 20, 0};
  int calls = 0;
  const EstimatorTraining training = train_estimator(cube(), options, [&](int done, int all) {
    EXPECT_EQ(done, ++calls);
    EXPECT_EQ(all, 3);
  });
  EXPECT_EQ(training.estimator.cells().size(), 3u);
  EXPECT_EQ(training.cells.size(), 3u);
  EXPECT_EQ(calls, 3);
  for (const int angle : {-40, 0, 40}) {
    const Rotation start = from_euler({angle * test::degree, 0, 0});
    const auto& cells = training.estimator.cells();
    EXPECT_TRUE(std::any_of(cells.begin(), cells.end(), [&](const auto& cell) {
      return angle_between(cell.start, start) < 1e-9;
    }));
  }
}

TEST(TrainEstimator, GivenPosesAreTheTrainingSet) {
  TrainEstimatorOptions options = small();
  options.poses = test::random_poses(300, 30, 400, 1);
  EXPECT_EQ(train_estimator(cube(), options).cells.front().samples, 300);
  options.cells = 2;
  EXPECT_THROW(train_estimator(cube(), options), Error);
}

TEST(TrainEstimator, APlanarObjectIsLearned) {
  Points3 board(3, 12);
  for (int i = 0; i < 12; ++i) board.col(i) = Eigen::Vector3d(i % 4 * 80, i / 4 * 80, 0);
  TrainEstimatorOptions options = small();
  // Tilted, so that the two poses a plane can have are far apart.
  options.range.centre.rotation = from_euler({0.7, 0, 0});
  options.range.rotation_degrees.setConstant(15);
  options.noise_pixels = 0.2;
  const Estimator estimator = train_estimator(board, options).estimator;
  Pose pose{from_euler({0.1, -0.1, 0.2}) * options.range.centre.rotation, {50, -30, 2100}};
  const Estimate found =
      estimator.estimate(project(board, pose, options.camera), RefineOptions{8, 0});
  EXPECT_LT(test::rotation_error(found.pose, pose), 1e-5);
}

TEST(TrainEstimator, DegenerateObjectsAndRangesAreRejected) {
  Points3 line(3, 5);
  for (int i = 0; i < 5; ++i) line.col(i) = Eigen::Vector3d(1, 2, 3) * i;
  EXPECT_THAT([&] { train_estimator(line, small()); }, ThrowsMessage<Error>(HasSubstr("one line")));
  EXPECT_THAT([] { train_estimator(cube().leftCols(3), small()); },
              ThrowsMessage<Error>(HasSubstr("3 points")));
  EXPECT_THAT([] { train_estimator(cube(5000), small()); },
              ThrowsMessage<Error>(HasSubstr("in front of the camera")));
  TrainEstimatorOptions options = small();
  options.range.centre.translation.z() = -5;
  EXPECT_THAT([&] { train_estimator(cube(), options); }, ThrowsMessage<Error>(HasSubstr("depth")));
}

TEST(TrainEstimator, OptionsThatMakeNoSenseAreRejected) {
  const auto rejects = [](auto&& change) {
    TrainEstimatorOptions options;
    change(options);
    EXPECT_THROW(options.validate(), Error);
  };
  rejects([](auto& o) { o.stages = 0; });
  rejects([](auto& o) { o.samples = 0; });
  rejects([](auto& o) { o.cells = -1; });
  rejects([](auto& o) { o.noise_pixels = -1; });
  rejects([](auto& o) { o.overlap_degrees = -1; });
  rejects([](auto& o) { o.camera.fx = 0; });
  rejects([](auto& o) { o.range.rotation_degrees.x() = 200; });
  rejects([](auto& o) { o.range.translation.x() = -1; });
  rejects([](auto& o) { o.range.centre.rotation.w() = 3; });
  EXPECT_NO_THROW(TrainEstimatorOptions().validate());
}

}  // namespace
}  // namespace sdm::pose
