#include "experiments/rigid/recorded.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/temporary_folder.h"

namespace sdm::experiments {
namespace {

using rigid::Warp;

TEST(ARecordedMotion, LeadsFromTheFirstFrameToEveryOther) {
  const TemporaryFolder folder;
  // A camera that goes 5 px to the right a frame: the plane goes to the left.
  std::ofstream(folder / "motion.txt") << "2 0 10 0 2 20 0 0 1\n2 0 20 0 2 20 0 0 1\n\n";
  const std::vector<Warp> motion = read_recorded_motion(folder / "motion.txt");
  ASSERT_EQ(motion.size(), 2U);
  EXPECT_TRUE(motion[0].isIdentity(1e-12));
  EXPECT_TRUE(rigid::apply(motion[1], {100, 50}).isApprox(Eigen::Vector2d(95, 50)));
}

TEST(ARecordedMotion, NamesTheLineThatIsNone) {
  const TemporaryFolder folder;
  std::ofstream(folder / "motion.txt") << "1 0 0 0 1 0 0 0 1\n1 2 3\n";
  EXPECT_THAT([&] { read_recorded_motion(folder / "motion.txt"); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("motion.txt:2:")));
  std::ofstream(folder / "motion.txt") << "1 0 0 0 1 0 0 0 1\n";
  EXPECT_THAT([&] { read_recorded_motion(folder / "motion.txt"); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("at least 2")));
}

TEST(ATemplatePlace, IsInTheMiddleOrWhereTheMotionKeepsItInTheFrame) {
  const std::vector<Warp> still(3, Warp::Identity());
  const Eigen::Vector2d middle = template_place(still, 640, 480);
  EXPECT_LT((middle - Eigen::Vector2d(319.5, 239.5)).norm(), 10);
  std::vector<Warp> panning;
  for (int i = 0; i < 40; ++i) {
    panning.push_back(Warp::Identity());
    panning.back()(0, 2) = -10 * i;
  }
  const Eigen::Vector2d place = template_place(panning, 640, 480);
  EXPECT_GT(place.x() - 390 - 50, 0);
  EXPECT_LT(place.x() + 50, 640);
}

}  // namespace
}  // namespace sdm::experiments
