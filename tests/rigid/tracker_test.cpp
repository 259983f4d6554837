#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <limits>
#include <vector>

#include "sdm/base/error.h"
#include "sdm/rigid/lucas_kanade.h"
#include "sdm/rigid/train/train_tracker.h"
#include "tests/rigid/texture.h"

namespace sdm::rigid {
namespace {

Parameters motion_within_range(Motion motion) {
  Parameters p(parameter_count(motion));
  switch (motion) {
    case Motion::translation:
      p << 7, -5;
      break;
    case Motion::similarity:
      p << 0.05, -0.06, 6, -5;
      break;
    case Motion::affine:
      p << 0.06, -0.04, 0.05, -0.05, 6, -5;
      break;
    case Motion::homography:
      p << 0.05, -0.04, 0.05, -0.04, 5, -4, 4e-4, -3e-4;
      break;
  }
  return p;
}

class EveryMotion : public testing::TestWithParam<Motion> {};

TEST_P(EveryMotion, IsFollowedToAFractionOfAPixel) {
  TrainTrackerOptions options;
  options.motion = GetParam();
  Tracker tracker = train_tracker(frame_of(centred()), middle_box(), options).tracker;
  // Twice the same motion: the second update starts from the first.
  Warp truth = centred();
  for (int i = 0; i < 2; ++i) {
    truth = compose(truth, warp_of(GetParam(), motion_within_range(GetParam())));
    const Track track = tracker.update(frame_of(truth));
    EXPECT_FALSE(track.lost);
    EXPECT_LT(corner_error(track.warp, truth), 0.6);
  }
}

INSTANTIATE_TEST_SUITE_P(Motions, EveryMotion,
                         testing::Values(Motion::translation, Motion::similarity, Motion::affine,
                                         Motion::homography),
                         [](const auto& info) { return to_string(info.param); });

TEST(ATracker, FollowsWithThePapersTraining) {
  Tracker tracker =
      train_tracker(frame_of(centred()), middle_box(), TrainTrackerOptions::paper()).tracker;
  Parameters p(6);
  p << 0.03, -0.02, 0.02, -0.03, 4, -3;
  const Warp truth = compose(centred(), warp_of(Motion::affine, p));
  EXPECT_LT(corner_error(tracker.update(frame_of(truth)).warp, truth), 0.6);
}

TEST(ATracker, DoesNotMindADarkerLight) {
  Tracker tracker = train_tracker(frame_of(centred()), middle_box()).tracker;
  Parameters p(6);
  p << 0, 0, 0, 0, 5, 4;
  const Warp truth = compose(centred(), warp_of(Motion::affine, p));
  const Track track = tracker.update(frame_of(truth, 0.5));
  EXPECT_LT(track.difference, 0.1);
  EXPECT_LT(corner_error(track.warp, truth), 0.5);
}

TEST(ATracker, FindsByASearchWhatTurnedTooFarInOneFrame) {
  Warp turn = Warp::Identity();
  turn.topLeftCorner<2, 2>() = Eigen::Rotation2Dd(1.0).toRotationMatrix();
  const Warp truth = compose(centred(), turn);
  TrainTrackerOptions options;
  Tracker tracker = train_tracker(frame_of(centred()), middle_box(), options).tracker;
  const Track found = tracker.update(frame_of(truth));
  EXPECT_FALSE(found.lost);
  EXPECT_LT(corner_error(found.warp, truth), 0.6);

  options.search = 0;
  options.scan = false;
  Tracker plain = train_tracker(frame_of(centred()), middle_box(), options).tracker;
  EXPECT_TRUE(plain.update(frame_of(truth)).lost);
}

TEST(ATracker, KnowsThatItIsLostAndComesBackWhereADetectorPointsIt) {
  Tracker tracker = train_tracker(frame_of(centred()), middle_box()).tracker;
  const image::Image<std::uint8_t> nothing(320, 240, 90);
  const Track lost = tracker.update(nothing);
  EXPECT_TRUE(lost.lost);
  EXPECT_LT(lost.score, 0.5);
  EXPECT_TRUE(tracker.warp().isApprox(centred()));  // the last good place

  Warp truth = centred();
  truth.topRightCorner<2, 1>() += Eigen::Vector2d(60, 30);
  const auto frame = frame_of(truth);
  tracker.set_detector([](image::ByteView) { return quad_of_box(166, 104, 100, 100); });
  const Track track = tracker.update(frame);
  EXPECT_FALSE(track.lost);
  EXPECT_LT(corner_error(track.warp, truth), 0.5);
}

TEST(ATracker, IsLostFromAStartThatIsNotFinite) {
  TrainTrackerOptions options;
  options.samples = 100;
  Tracker tracker = train_tracker(frame_of(centred()), middle_box(), options).tracker;
  const auto frame = frame_of(centred());
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Warp start = centred();
    start(0, 2) = bad;
    tracker.restart(start);
    for (const Track& track : {tracker.align(frame, start), tracker.update(frame)}) {
      EXPECT_TRUE(track.lost);
      EXPECT_EQ(track.difference, std::numeric_limits<double>::infinity());
    }
    EXPECT_EQ(tracker.difference(frame, start), std::numeric_limits<double>::infinity());
  }
  tracker.restart(centred());
  EXPECT_FALSE(tracker.update(frame).lost);
}

TEST(ATracker, StaysWhereItsTemplateWasForEveryShapeAndMotion) {
  const auto frame = rich_frame(centred());
  std::vector<Quad> regions = {middle_box(), quad_of_box(60, 100, 200, 40),
                               quad_of_box(150, 20, 30, 200), quad_of_box(20, 10, 280, 215),
                               quad_of_box(150, 110, 20, 20)};
  regions.emplace_back() << 90, 220, 205, 95, 60, 70, 175, 160;
  for (const Motion motion :
       {Motion::translation, Motion::similarity, Motion::affine, Motion::homography})
    for (const Quad& region : regions) {
      TrainTrackerOptions options;
      options.motion = motion;
      options.samples = 200;
      options.score_trials = 60;
      Tracker tracker = train_tracker(frame, region, options).tracker;
      const int frames = motion == Motion::affine ? 1000 : 3;
      Track track;
      for (int i = 0; i < frames; ++i) track = tracker.update(frame);
      EXPECT_EQ(track.difference, 0);
      EXPECT_FALSE(track.lost);
      EXPECT_LT((track.corners - region).colwise().norm().maxCoeff(), 0.01);
    }
}

TEST(ATracker, IsMorePreciseThanLucasKanadeInMovedFrames) {
  Tracker tracker = train_tracker(rich_frame(centred()), middle_box()).tracker;
  LucasKanade peer(rich_frame(centred()), middle_box());
  double ours = 0, theirs = 0;
  for (std::uint64_t i = 1; i <= 12; ++i) {
    Random random(3, "motion", i);
    Parameters p(6);
    for (int k = 0; k < 6; ++k) p[k] = (k < 4 ? 0.01 : 1) * random.normal();
    const Warp truth = compose(centred(), warp_of(Motion::affine, p));
    const auto frame = rich_frame(truth);
    tracker.restart(centred());
    peer.restart(centred());
    ours += corner_error(tracker.update(frame).warp, truth) / 12;
    theirs += corner_error(peer.update(frame), truth) / 12;
    // In noise the peer, which sees every pixel, is as good.
    tracker.restart(centred());
    EXPECT_LT(corner_error(tracker.update(rich_frame(truth, 4, i)).warp, truth), 0.1);
  }
  EXPECT_LT(ours, 0.02);
  EXPECT_LT(ours, theirs);
}

/// Covers a share of the template from its left side with an even grey.
image::Image<std::uint8_t> covered(image::Image<std::uint8_t> frame, const Warp& truth,
                                   double share) {
  const Warp back = inverse(truth);
  for (int y = 0; y < frame.height(); ++y)
    for (int x = 0; x < frame.width(); ++x) {
      const Eigen::Vector2d at = apply(back, {double(x), double(y)});
      if (std::abs(at.y()) < 50 && at.x() > -50 && at.x() < -50 + 100 * share) frame(x, y) = 90;
    }
  return frame;
}

TEST(ATracker, HoldsOnWhileFortyPercentOfTheTemplateAreCovered) {
  Tracker tracker = train_tracker(rich_frame(centred()), middle_box()).tracker;
  for (int i = 1; i <= 10; ++i) {
    Warp truth = centred();
    truth.topRightCorner<2, 1>() += Eigen::Vector2d(2.5 * i, -1.5 * i);
    const Track track = tracker.update(
        covered(rich_frame(truth, 2, std::uint64_t(i)), truth, std::min(0.05 * i, 0.4)));
    EXPECT_FALSE(track.lost) << i;
    EXPECT_LT(corner_error(track.warp, truth), 0.5) << i;
  }
}

TEST(ATracker, KeepsTheWholeInViewWhereTheTemplateTiltsAsItsMotionCannot) {
  // An affine tracker and a plane that tilts: the weights alone would settle on a part of it.
  Tracker tracker = train_tracker(rich_frame(centred()), middle_box()).tracker;
  for (int i = 1; i <= 10; ++i) {
    Warp tilt = Warp::Identity();
    tilt(2, 0) = 1.5e-4 * i;
    const Warp truth = compose(centred(), tilt);
    const Track track = tracker.update(rich_frame(truth, 2, std::uint64_t(i)));
    EXPECT_FALSE(track.lost) << i;
    EXPECT_LE(track.difference, 0.3) << i;
  }
}

TEST(ATracker, FindsItsTemplateAgainAfterAnotherScene) {
  TrainTrackerOptions options;
  options.motion = Motion::similarity;
  Tracker tracker = train_tracker(rich_frame(centred()), middle_box(), options).tracker;
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(tracker.update(rich_frame(centred(), 2, std::uint64_t(i), 99)).lost) << i;
  // It comes back elsewhere, turned and larger.
  Warp truth = centred();
  truth.topLeftCorner<2, 2>() = 1.15 * Eigen::Rotation2Dd(0.8).toRotationMatrix();
  truth.topRightCorner<2, 1>() += Eigen::Vector2d(60, -30);
  int lost = 0;
  Track track;
  do track = tracker.update(rich_frame(truth, 2, 10));
  while (track.lost && ++lost < 5);
  EXPECT_LT(lost, 5);
  EXPECT_FALSE(track.lost);
  EXPECT_LT(corner_error(track.warp, truth), 0.5);
}

TEST(ATracker, FollowsASlowChangeOfAppearanceOnlyAsFarAsItMay) {
  AppearanceOptions wrong;
  wrong.forgetting = 2;
  Tracker tracker = train_tracker(rich_frame(centred()), middle_box()).tracker;
  EXPECT_THROW(tracker.adapt(wrong), Error);
  tracker.adapt();
  for (int i = 0; i < 50; ++i) {
    Warp truth = centred();
    truth(0, 2) += i % 10;
    const Track track =
        tracker.update(covered(rich_frame(truth, 2, std::uint64_t(i)), truth, 0.005 * i));
    EXPECT_FALSE(track.lost) << i;
    EXPECT_LT(corner_error(track.warp, truth), 0.5) << i;
  }
  Tracker without(
      TrackerModel(train_tracker(rich_frame(centred()), middle_box(), TrainTrackerOptions::paper())
                       .tracker.model()));
  EXPECT_THROW(without.adapt(), Error);
}

TEST(ATracker, ScoresRightCornersHighAndAnotherTextureLow) {
  Tracker tracker = train_tracker(rich_frame(centred()), middle_box()).tracker;
  for (std::uint64_t i = 1; i <= 8; ++i) {
    Warp truth = centred();
    truth.topRightCorner<2, 1>() += Eigen::Vector2d(double(i), -double(i) / 2);
    EXPECT_GT(tracker.align(rich_frame(truth, 6, i), centred()).score, 0.5) << i;
    EXPECT_LT(tracker.align(rich_frame(truth, 6, i, 50 + i), centred()).score, 0.5) << i;
  }
}

TEST(ATracker, OfThePaperHasNoScoreAndIsLostByTheHogDifferenceAlone) {
  Tracker tracker =
      train_tracker(rich_frame(centred()), middle_box(), TrainTrackerOptions::paper()).tracker;
  for (const std::uint64_t scene : {1, 50}) {
    const Track track = tracker.update(rich_frame(centred(), 0, 0, scene));
    EXPECT_TRUE(std::isnan(track.score));
    EXPECT_EQ(track.lost, track.difference > 0.3);
    EXPECT_EQ(track.lost, scene != 1);
  }
}

TEST(ATracker, OfThePaperRunsItsMapsOnce) {
  Tracker tracker =
      train_tracker(rich_frame(centred()), middle_box(), TrainTrackerOptions::paper()).tracker;
  const TrackerModel& model = tracker.model();
  Parameters p(6);
  p << 0.1, 0, 0, 0.1, 12, -9;
  const auto frame = rich_frame(compose(centred(), warp_of(Motion::affine, p)));
  // The maps by hand, each applied once.
  FrameWindow window(true);
  window.look(frame, model.shape, centred());
  const Warp base = window.in_view(centred());
  Warp moved = Warp::Identity();
  for (std::size_t k = 0; k < model.cascade.maps.size(); ++k) {
    const auto canvas = std::size_t(model.stage_canvas[k]);
    std::vector<float> pixels(std::size_t(model.canvases[canvas].width) *
                              std::size_t(model.canvases[canvas].height));
    Vector<float> seen(model.canvases[canvas].feature_size());
    features(window.view(), compose(base, moved), model.canvases[canvas], pixels,
             {seen.data(), std::size_t(seen.size())});
    const auto& map = model.cascade.maps[k];
    const Vector<float> delta = -(map.matrix() * (seen - model.templates[canvas]));
    moved = step(model.motion, moved, delta.cast<double>());
  }
  EXPECT_LT(corner_error(tracker.update(frame).warp, compose(centred(), moved)), 1e-3);
}

TEST(ATracker, LearnsTheSameForAnyNumberOfThreads) {
  TrainTrackerOptions options;
  options.samples = 100;
  std::vector<Matrix<float>> maps;
  for (const int threads : {1, 2}) {
    options.threads = threads;
    const Tracker tracker = train_tracker(frame_of(centred()), middle_box(), options).tracker;
    maps.push_back(tracker.model().cascade.maps.back().matrix());
    maps.emplace_back(tracker.model().score.weights);
  }
  EXPECT_EQ(maps[0], maps[2]);
  EXPECT_EQ(maps[1], maps[3]);
}

TEST(ATracker, FollowsAPatchMuchLargerThanItsCanvas) {
  Warp large = centred();
  large(0, 0) = large(1, 1) = 2.2;  // the texture is coarse in the frame: 220 px for the template
  const Quad region = quad_of_box(49.5 + 0.5, 9.5 + 0.5, 220, 220);
  Tracker tracker = train_tracker(frame_of(large), region).tracker;
  Parameters p(6);
  p << 0.03, 0, 0, 0.03, 2, 0;
  const Warp truth = compose(large, warp_of(Motion::affine, p));
  EXPECT_LT(corner_error(tracker.update(frame_of(truth)).warp, truth), 1);
}

TEST(Training, RefusesRegionsOutsideTheFrameAndFlatOnesAndSaysSo) {
  const auto message = [](const image::Image<std::uint8_t>& frame, const Quad& region) {
    try {
      train_tracker(frame, region);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message(frame_of(centred()), quad_of_box(300, 70, 100, 100)),
              testing::HasSubstr("outside the frame of 320 x 240"));
  EXPECT_THAT(message(image::Image<std::uint8_t>(320, 240, 90), middle_box()),
              testing::HasSubstr("flat"));
  EXPECT_THAT(message({}, middle_box()), testing::HasSubstr("expected a picture"));
  TrainTrackerOptions options;
  options.samples = 0;
  EXPECT_THROW(train_tracker(frame_of(centred()), middle_box(), options), Error);
}

}  // namespace
}  // namespace sdm::rigid
