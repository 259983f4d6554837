#include "sdm/rigid/lucas_kanade.h"

#include <gtest/gtest.h>

#include "rigid/gradients.h"
#include "sdm/base/error.h"
#include "tests/rigid/texture.h"

namespace sdm::rigid {
namespace {

TEST(Gradients, OfAPlaneAreItsSlopesUpToTheBorder) {
  for (const auto& [width, height] : {std::pair{7, 5}, {2, 2}, {1, 4}, {4, 1}}) {
    image::Image<float> plane(width, height), gx(width, height), gy(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) plane(x, y) = float(3 * x - 2 * y + 7);
    gradients(plane, gx, gy);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        EXPECT_EQ(gx(x, y), width > 1 ? 3 : 0);
        EXPECT_EQ(gy(x, y), height > 1 ? -2 : 0);
      }
  }
}

class BothKinds : public testing::TestWithParam<LucasKanadeKind> {};

TEST_P(BothKinds, FindAffineMotions) {
  LucasKanade tracker(frame_of(centred()), middle_box(), {.kind = GetParam()});
  Parameters p(6);
  p << 0.03, -0.02, 0.025, -0.03, 2.5, -1.5;
  const Warp truth = compose(centred(), warp_of(Motion::affine, p));
  EXPECT_LT(corner_error(tracker.update(frame_of(truth)), truth), 0.1);
}

TEST_P(BothKinds, FindHomographies) {
  LucasKanade tracker(frame_of(centred()), middle_box(),
                      {.kind = GetParam(), .motion = Motion::homography});
  Parameters p(8);
  p << 0.02, -0.02, 0.02, -0.01, 1.5, -1, 3e-4, -2e-4;
  const Warp truth = compose(centred(), warp_of(Motion::homography, p));
  EXPECT_LT(corner_error(tracker.update(frame_of(truth)), truth), 0.15);
}

TEST_P(BothKinds, StayWhereTheyAreOnTheSameFrame) {
  const auto frame = frame_of(centred());
  LucasKanade tracker(frame, middle_box(), {.kind = GetParam()});
  EXPECT_LT(corner_error(tracker.update(frame), centred()), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Kinds, BothKinds,
                         testing::Values(LucasKanadeKind::forward_additive,
                                         LucasKanadeKind::inverse_compositional),
                         [](const auto& info) {
                           return info.param == LucasKanadeKind::forward_additive ? "forward"
                                                                                  : "inverse";
                         });

TEST(LucasKanade, RefusesBadOptionsAndEmptyFrames) {
  const auto frame = frame_of(centred());
  EXPECT_THROW(LucasKanade(frame, middle_box(), {.motion = Motion::translation}), Error);
  EXPECT_THROW(LucasKanade(frame, middle_box(), {.iterations = 0}), Error);
  LucasKanade tracker(frame, middle_box());
  EXPECT_THROW(tracker.update({}), Error);
}

}  // namespace
}  // namespace sdm::rigid
