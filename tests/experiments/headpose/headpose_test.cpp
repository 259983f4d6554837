#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "experiments/registry.h"
#include "tests/temporary_folder.h"

namespace sdm::experiments {
namespace {

namespace fs = std::filesystem;

class HeadPose : public testing::Test {
 protected:
  HeadPose() { context.data = folder.path(); }

  TemporaryFolder folder;
  ExperimentContext context;
};

TEST_F(HeadPose, WithoutItsFilesHasNoData) { EXPECT_THROW(run_headpose(context), NoData); }

TEST_F(HeadPose, NamesTheCellThatIsNoNumber) {
  std::string good = "a.jpg", bad = "b.jpg";
  for (int i = 0; i < 3 + 2 * 68; ++i) {
    good += ",1.5";
    bad += i == 7 ? ",1o" : ",1.5";
  }
  write_text(context.data / "pose" / "head_pose_dev.csv",
             "image,yaw,pitch,roll,x0,y0\n" + good + "\n" + bad + "\n");
  try {
    run_headpose(context);
    FAIL() << "took it for a number";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("head_pose_dev.csv:3: '1o'"));
  }
}

}  // namespace
}  // namespace sdm::experiments
