#include "sdm/face/tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sdm/base/error.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr int kWidth = 320, kHeight = 240;

const Model& model() {
  static const Model trained = train(drawn_faces(160, 1), {}, drawn_options()).model;
  return trained;
}

Similarity placed(float x, float y, float unit = 40, float angle = 0) {
  return {unit * std::cos(angle), unit * std::sin(angle), x, y};
}

// A scene of drawn faces with what a perfect detector says of it.
struct Scene {
  explicit Scene(const std::vector<Similarity>& faces, int width = kWidth, int height = kHeight,
                 unsigned seed = 1)
      : picture(width, height) {
    std::mt19937 random(seed);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        picture(x, y) = static_cast<std::uint8_t>(190 + random() % 17);
    for (const Similarity& frame : faces) {
      Shape points = drawn_mean();
      frame.to_image(drawn_mean(), points);
      truth.push_back(points);
      const image::Image<std::uint8_t> one = draw(points, frame.scale(), width, height, random);
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) picture(x, y) = std::min(picture(x, y), one(x, y));
      boxes.push_back(model().boxes.front().box(frame));
    }
  }

  image::Image<std::uint8_t> picture;
  std::vector<Shape> truth;
  std::vector<Box> boxes;
};

// Runs a tracker on scenes, 25 a second, and counts the detector's calls.
struct Show {
  explicit Show(const TrackerOptions& options = {})
      : tracker(
            model(),
            [this](image::ByteView) {
              ++searches;
              return boxes;
            },
            options) {}
  const TrackedFrame& operator()(const Scene& scene) {
    boxes = scene.boxes;
    return tracker.update(scene.picture, 0.04 * frames++);
  }

  std::vector<Box> boxes;
  int searches = 0, frames = 0;
  Tracker tracker;
};

TEST(ATracker, FollowsAMovingTurningFaceAfterOneDetection) {
  TrackerOptions options;
  options.smooth = false;
  Show show(options);
  for (int t = 0; t < 40; ++t) {
    const auto s = static_cast<float>(t);
    const Scene scene({placed(90 + 4 * s, 120 + 15 * std::sin(0.3F * s),
                              40 + 8 * std::sin(0.2F * s), 0.4F * std::sin(0.15F * s))});
    const TrackedFrame& seen = show(scene);
    ASSERT_EQ(seen.faces.size(), 1U) << t;
    EXPECT_EQ(seen.faces[0].id, 1);
    EXPECT_EQ(seen.faces[0].detected, t == 0);
    EXPECT_GT(seen.faces[0].score, 0.5F);
    EXPECT_LT(drawn_error(seen.faces[0].points, scene.truth[0]), 0.06) << t;
  }
  EXPECT_EQ(show.searches, 1);
}

TEST(ATracker, SaysThatAFaceIsGoneAndInventsNothing) {
  Show show;
  const Scene face({placed(160, 120)}), wall({});
  show(face);
  const TrackedFrame& seen = show(wall);
  EXPECT_THAT(seen.faces, IsEmpty());
  EXPECT_THAT(seen.lost, ElementsAre(1));
  EXPECT_TRUE(seen.searched);
  for (int t = 0; t < 30; ++t) {
    show(wall);
    EXPECT_THAT(seen.faces, IsEmpty());
    EXPECT_THAT(seen.lost, IsEmpty());
  }
}

TEST(ATracker, TakesNoBoxOnAWallForAFace) {
  Show show;
  Scene wall({});
  wall.boxes = {{100, 100, 80, 80}, {10, 10, 0, 0}, {-500, -500, 60, 60}};
  EXPECT_THAT(show(wall).faces, IsEmpty());
  wall.picture = image::Image<std::uint8_t>(kWidth, kHeight);  // black
  EXPECT_THAT(show(wall).faces, IsEmpty());
}

TEST(ATracker, KeepsTheIdOverABlackFrameAndGivesANewOneMuchLater) {
  TrackerOptions options;
  options.memory = 5;
  Show show(options);
  const Scene face({placed(160, 120)});
  Scene black({});
  black.picture = image::Image<std::uint8_t>(kWidth, kHeight);
  show(face);
  EXPECT_THAT(show(black).faces, IsEmpty());
  const TrackedFrame& seen = show(face);
  ASSERT_EQ(seen.faces.size(), 1U);
  EXPECT_EQ(seen.faces[0].id, 1);
  EXPECT_TRUE(seen.faces[0].detected);
  for (int t = 0; t < 10; ++t) show(black);
  show(face);
  ASSERT_EQ(seen.faces.size(), 1U);
  EXPECT_EQ(seen.faces[0].id, 2);
}

TEST(ATracker, KeepsFacesApartThatEnterAndLeave) {
  TrackerOptions options;
  options.faces = 3;
  options.search_every = 4;
  Show show(options);
  const Similarity left = placed(80, 120), right = placed(230, 120, 45);
  const auto ids = [](const TrackedFrame& frame) {
    std::vector<int> all;
    for (const TrackedFace& face : frame.faces) all.push_back(face.id);
    return all;
  };
  EXPECT_THAT(ids(show(Scene({left}))), ElementsAre(1));
  for (int t = 0; t < 4; ++t) show(Scene({left, right}));
  EXPECT_THAT(ids(show(Scene({left, right}))), ElementsAre(1, 2));
  const TrackedFrame& gone = show(Scene({right}));
  EXPECT_THAT(ids(gone), ElementsAre(2));
  EXPECT_THAT(gone.lost, ElementsAre(1));
  for (int t = 0; t < 20; ++t) show(Scene({right}));
  for (int t = 0; t < 4; ++t) show(Scene({left, right}));
  EXPECT_THAT(ids(show(Scene({left, right}))), ElementsAre(2, 3));
}

TEST(ATracker, GivesOneFaceOneId) {
  TrackerOptions options;
  options.faces = 5;
  options.search_every = 1;
  Show show(options);
  Scene scene({placed(160, 120)});
  Box near = scene.boxes[0];
  near.x += 6;
  near.width *= 1.1F;
  scene.boxes.push_back(near);
  for (int t = 0; t < 5; ++t) EXPECT_EQ(show(scene).faces.size(), 1U);
}

TEST(ATracker, FollowsNoMoreFacesThanAsked) {
  Show show;
  const Scene two({placed(80, 120), placed(230, 120)});
  EXPECT_EQ(show(two).faces.size(), 1U);
  EXPECT_EQ(show(two).faces.size(), 1U);
  EXPECT_EQ(show.searches, 1);
}

TEST(ATracker, LetsAFaceGoThatLeavesThePicture) {
  Show show;
  for (int t = 0; t < 40; ++t) {
    Scene scene({placed(160 + 6 * static_cast<float>(t), 120)});
    if (t > 0) scene.boxes.clear();
    const TrackedFrame& seen = show(scene);
    for (const TrackedFace& face : seen.faces)
      EXPECT_LT(drawn_error(face.points, scene.truth[0]), 0.3) << t;
    if (t <= 15) {
      EXPECT_EQ(seen.faces.size(), 1U) << t;
    }
    if (t > 32) {
      EXPECT_THAT(seen.faces, IsEmpty()) << t;
    }
  }
}

TEST(ATracker, TakesAFrameOfAnotherSizeInTheMiddle) {
  Show show;
  const Scene large({placed(160, 120)}), small({placed(80, 60, 20)}, kWidth / 2, kHeight / 2);
  show(large);
  for (int t = 0; t < 3; ++t) {
    const TrackedFrame& seen = show(small);
    ASSERT_EQ(seen.faces.size(), 1U);
    EXPECT_LT(drawn_error(seen.faces[0].points, small.truth[0]), 0.1);
  }
  EXPECT_EQ(show(large).faces.size(), 1U);
}

TEST(ATracker, CalmsAFaceThatStandsStillUnlessToldNotTo) {
  const auto jitter = [](bool smooth) {
    TrackerOptions options;
    options.smooth = smooth;
    Show show(options);
    Shape before;
    double sum = 0;
    for (unsigned t = 0; t < 60; ++t) {
      const TrackedFrame& seen = show(Scene({placed(160, 120)}, kWidth, kHeight, t + 1));
      if (t >= 20)
        sum += static_cast<double>((seen.faces[0].points - before).colwise().norm().mean());
      before = seen.faces[0].points;
    }
    return sum;
  };
  EXPECT_LT(jitter(true), 0.5 * jitter(false));
}

Model solid_model() {
  Model solid = model();
  solid.shape3d.resize(3, solid.points());
  solid.shape3d.topRows(2) = solid.mean;
  // Round as a head: the middle is nearer to the camera.
  solid.shape3d.row(2) = solid.mean.colwise().squaredNorm();
  solid.shape3d_weights = Vector<float>::Ones(solid.points());
  return solid;
}

TEST(ATracker, TellsTheHeadsPoseWhereTheModelKnowsItsShape) {
  const Model solid = solid_model();
  TrackerOptions options;
  options.smooth = false;
  const Scene scene({placed(160, 120, 40, 0.2F)});
  Tracker tracker(
      solid, [&](image::ByteView) { return scene.boxes; }, options);
  const TrackedFrame& seen = tracker.update(scene.picture, 0);
  ASSERT_EQ(seen.faces.size(), 1U);
  ASSERT_TRUE(seen.faces[0].pose.has_value());
  const pose::HeadPose& pose = *seen.faces[0].pose;
  EXPECT_NEAR(pose.roll, 0.2 * 180 / 3.14159, 3);
  EXPECT_NEAR(pose.yaw, 0, 12);
  EXPECT_NEAR(pose.scale, 40, 4);
}

TEST(ATracker, TellsNoPoseWhereItsPointsTellNone) {
  Model unknown = solid_model(), flat = solid_model(), without_weights = solid_model();
  unknown.shape3d.resize(3, 0);
  unknown.shape3d_weights.resize(0);
  flat.shape3d.row(2).setZero();
  without_weights.shape3d_weights.setZero();
  const Scene scene({placed(160, 120)});
  for (const Model& one : {unknown, flat, without_weights}) {
    Tracker tracker(one, [&](image::ByteView) { return scene.boxes; });
    for (int t = 0; t < 3; ++t) {
      const TrackedFrame& seen = tracker.update(scene.picture, 0.04 * t);
      ASSERT_EQ(seen.faces.size(), 1U);
      EXPECT_FALSE(seen.faces[0].pose.has_value());
    }
  }
}

TEST(ATracker, ForgetsItsFacesButNotItsIds) {
  Show show;
  const Scene face({placed(160, 120)});
  show(face);
  show.tracker.reset();
  EXPECT_EQ(show(face).faces[0].id, 2);
}

TEST(ATracker, SaysWhatIsWrongWithItsInput) {
  Show show;
  EXPECT_THAT([&] { show.tracker.update({}, 0); }, ThrowsMessage<Error>(HasSubstr("0 x 0")));
  TrackerOptions options;
  options.faces = 0;
  EXPECT_THAT([&] { Show{options}; }, ThrowsMessage<Error>(HasSubstr("0 faces")));
  options = {};
  options.threshold = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT([&] { Show{options}; }, ThrowsMessage<Error>(HasSubstr("threshold")));
  options = {};
  options.detector = "none such";
  EXPECT_THAT([&] { Show{options}; }, ThrowsMessage<Error>(HasSubstr("none such")));
  EXPECT_THAT([&] { Tracker(model(), {}); }, ThrowsMessage<Error>(HasSubstr("detector")));
}

}  // namespace
}  // namespace sdm::face
