#include "experiments/tracking/steadiness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sdm/base/random.h"

namespace sdm::experiments {
namespace {

// 68 points that go along a path of units of 50 px, `late` frames late, with noise.
Track track_of(const Path& path, int late, double noise) {
  Random random(1, "track");
  Track track;
  for (int t = 0; t < kPathFrames; ++t) {
    face::Shape points(2, 68);
    const double way = path[std::size_t(std::max(0, t - late))];
    for (Eigen::Index p = 0; p < 68; ++p)
      points.col(p) << float(50 * way + 50 * noise * random.normal()),
          float(p + 50 * noise * random.normal());
    track.push_back(points);
  }
  return track;
}

TEST(Steadiness, JitterIsTheDeviationOfAPointInThePlane) {
  EXPECT_NEAR(jitter_percent(track_of(still_path(), 0, 0.003), 50), 0.3 * std::sqrt(2.0), 0.03);
  EXPECT_NEAR(jitter_percent(track_of(still_path(), 0, 0), 50), 0, 1e-9);
}

TEST(Steadiness, LagIsHowManyFramesPointsComeLate) {
  for (const int late : {0, 1, 3}) {
    const auto progress = [&](const Path& path) {
      return mean_progress({track_of(path, late, 0)}, {Eigen::Vector2d(1, 0)}, {50.0});
    };
    EXPECT_NEAR(step_lag(progress(step_path(0.05)), 0.05), late, 1e-4);
    EXPECT_NEAR(ramp_lag(progress(ramp_path(0.02)), 0.02), late, 1e-4);
  }
}

TEST(Steadiness, AStillFaceIsSeenAnewInEveryFrameWithItsTruth) {
  Still still{"a ramp", image::Image<std::uint8_t>(64, 64), face::Shape::Random(2, 68)};
  still.points = 20 * still.points.array() + 32;
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) still.picture(x, y) = std::uint8_t(3 * x + 20);
  const auto first = seen_on_path(still, still_path(), 7, 0),
             again = seen_on_path(still, still_path(), 7, 0),
             second = seen_on_path(still, still_path(), 7, 1);
  EXPECT_TRUE(std::equal(first.picture.view().data, first.picture.view().data + 64 * 64,
                         again.picture.view().data));
  EXPECT_FALSE(std::equal(first.picture.view().data, first.picture.view().data + 64 * 64,
                          second.picture.view().data));
  EXPECT_LT((first.truth - still.points).cwiseAbs().maxCoeff(), 1);
  EXPECT_NE(first.truth, second.truth);
  // The step goes where the truth says: the ramp's grey tells x.
  const auto stepped = seen_on_path(still, step_path(0.3), 7, kMoveFrame);
  const double moved = double((stepped.truth - still.points).row(0).mean());
  double grey = 0;
  for (int y = 16; y < 48; ++y)
    for (int x = 24; x < 40; ++x)
      grey += (double(stepped.picture(x, y)) - double(still.picture(x, y))) / (32 * 16);
  EXPECT_NEAR(grey, -3 * moved, 1);
}

}  // namespace
}  // namespace sdm::experiments
