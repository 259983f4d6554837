#include <gmock/gmock.h>

#include <fstream>

#include "sdm/base/error.h"
#include "sdm/pose/object.h"
#include "sdm/pose/train/train_estimator.h"
#include "tests/pose/samples.h"
#include "tests/temporary_folder.h"

namespace sdm::pose {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Estimator small_estimator() {
  TrainEstimatorOptions options;
  options.camera = {700, 710, 320, 240};
  options.range.rotation_degrees = {40, 10, 0};
  options.range.centre.rotation = from_euler({0.1, 0.2, 0.3});
  options.samples = 300;
  options.stages = 2;
  options.cells = 2;
  options.threads = 1;
  return train_estimator(cube(), options).estimator;
}

class PoseFiles : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(PoseFiles, AnEstimatorComesBackBitForBit) {
  const Estimator estimator = small_estimator();
  estimator.save(folder_ / "cube.sdm");
  const Estimator loaded = Estimator::load(folder_ / "cube.sdm");
  EXPECT_EQ(loaded.object(), estimator.object());
  EXPECT_EQ(loaded.cells().size(), 4u);
  EXPECT_EQ(loaded.camera().fy, 710);
  EXPECT_EQ(loaded.range().rotation_degrees, estimator.range().rotation_degrees);
  for (const Pose& pose : test::random_poses(5, 10, 300, 1)) {
    const Points2 image = project(cube(), pose, estimator.camera());
    const Estimate a = estimator.estimate(image), b = loaded.estimate(image);
    EXPECT_EQ(a.pose.rotation.coeffs(), b.pose.rotation.coeffs());
    EXPECT_EQ(a.pose.translation, b.pose.translation);
  }
}

TEST_F(PoseFiles, AModelOfAnotherKindOrShapeIsRejected) {
  io::Model model = small_estimator().to_model();
  io::Model other = model;
  other.kind = "cascade";
  EXPECT_THAT([&] { Estimator::from_model(other); }, ThrowsMessage<Error>(HasSubstr("pose")));
  other = model;
  other.tensors.erase("maps");
  other.put("maps", io::to_tensor(Matrix<double>(Matrix<double>::Zero(6, 33))));
  EXPECT_THAT([&] { Estimator::from_model(other); }, ThrowsMessage<Error>(HasSubstr("33 columns")));
  other = model;
  other.header = "{}";
  EXPECT_THAT([&] { Estimator::from_model(other); }, ThrowsMessage<Error>(HasSubstr("camera")));
  other = model;
  other.tensors.erase("starts");
  EXPECT_THAT([&] { Estimator::from_model(other); }, ThrowsMessage<Error>(HasSubstr("starts")));
  other.put("starts", io::to_tensor(Matrix<double>(4, 0)));
  EXPECT_THROW(Estimator::from_model(other), Error);
}

TEST_F(PoseFiles, ObjectsAreReadByTheirEnding) {
  std::ofstream(folder_ / "a.obj") << "v 1 2 3\n";
  std::ofstream(folder_ / "a.csv") << "1,2,3\n";
  std::ofstream(folder_ / "A.OBJ") << "v 1 2 3\n";
  EXPECT_EQ(read_object(folder_ / "a.obj"), read_object(folder_ / "a.csv"));
  EXPECT_EQ(read_object(folder_ / "A.OBJ"), read_object(folder_ / "a.csv"));
  EXPECT_THAT([&] { read_object(folder_ / "a.csv", "body"); },
              ThrowsMessage<Error>(HasSubstr("a.csv: has no group \"body\"")));
  EXPECT_THAT([&] { read_object(folder_ / "missing.obj"); },
              ThrowsMessage<Error>(HasSubstr("missing.obj: cannot be opened")));
  EXPECT_THROW(read_object(folder_.path()), Error);
}

}  // namespace
}  // namespace sdm::pose
