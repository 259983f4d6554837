#include <gtest/gtest.h>

#include "sdm/rigid/train/train_tracker.h"
#include "tests/allocation_count.h"
#include "tests/rigid/texture.h"

namespace sdm::rigid {
namespace {

TEST(AFrame, AllocatesNothingForAnyMotion) {
  if (!counts_allocations) GTEST_SKIP() << "a sanitizer has a malloc of its own";
  const image::Image<std::uint8_t> blank(320, 240, 90);
  for (const Motion motion :
       {Motion::translation, Motion::similarity, Motion::affine, Motion::homography}) {
    TrainTrackerOptions options;
    options.motion = motion;
    options.samples = 300;
    Tracker tracker = train_tracker(frame_of(centred()), middle_box(), options).tracker;
    Warp moved = centred();
    moved(0, 2) += 3;
    const auto frame = frame_of(moved);
    EXPECT_TRUE(tracker.update(blank).lost);  // the scan makes room for a frame of this size
    EXPECT_TRUE(tracker.update(blank).lost);
    EXPECT_TRUE(tracker.update(blank).lost);
    const int before = allocations;
    ASSERT_GT(before, 0);
    bool lost = false;
    for (int i = 0; i < 3; ++i) lost = tracker.update(frame).lost || lost;
    const bool searched = tracker.update(blank).lost;
    EXPECT_EQ(allocations, before);
    EXPECT_FALSE(lost);
    EXPECT_TRUE(searched);
  }
}

}  // namespace
}  // namespace sdm::rigid
