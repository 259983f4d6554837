#include "sdm/face/smoothing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sdm/base/error.h"
#include "sdm/base/random.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr float kUnit = 50;

Shape face_at(float x, float y, float angle = 0) {
  Shape points = drawn_mean();
  Similarity{kUnit * std::cos(angle), kUnit * std::sin(angle), x, y}.to_image(drawn_mean(), points);
  return points;
}

double distance(const Shape& a, const Shape& b) {
  return static_cast<double>((a - b).colwise().norm().mean() / kUnit);
}

TEST(Smoothing, LeavesWhatStandsStillWhereItIs) {
  Smoother smoother(drawn_mean());
  for (int t = 0; t < 10; ++t) {
    Shape points = face_at(100, 80, 0.3F);
    smoother.apply(points, 0.04 * t);
    EXPECT_LT(distance(points, face_at(100, 80, 0.3F)), 1e-4);
  }
}

// A face along a path (units), each point with noise of its own, seen 25 times a second.
class Seen {
 public:
  explicit Seen(float noise, std::uint64_t seed = 1) : noise_(noise), random_(seed, "points") {}

  Shape raw(const Shape& truth) {
    Shape points = truth;
    for (float& value : points.reshaped())
      value += kUnit * noise_ * static_cast<float>(random_.normal());
    return points;
  }
  Shape smooth(Shape points) {
    smoother_.apply(points, 0.04 * frame_++);
    return points;
  }

 private:
  float noise_;
  Random random_;
  Smoother smoother_{drawn_mean()};
  int frame_ = 0;
};

double square(const Shape& a, const Shape& b) { return static_cast<double>((a - b).squaredNorm()); }

// The noise is that of a face of a hundred pixels, and of one of twenty.
TEST(Smoothing, LeavesAQuarterOfTheTremble) {
  for (const float noise : {0.001F, 0.003F, 0.02F}) {
    Seen seen(noise);
    const Shape truth = face_at(100, 80, 0.2F);
    double raw = 0, smooth = 0;
    for (int t = 0; t < 300; ++t) {
      const Shape points = seen.raw(truth), calm = seen.smooth(points);
      if (t < 40) continue;  // it has to learn the noise
      raw += square(points, truth);
      smooth += square(calm, truth);
    }
    EXPECT_LT(std::sqrt(smooth), 0.25 * std::sqrt(raw)) << noise;
  }
}

// Frames behind: the sum of what is missing, in steps.
double lag_after(float step, float noise, const std::function<Shape(float)>& moved) {
  double missing = 0;
  constexpr int kTimes = 40;
  for (int time = 0; time < kTimes; ++time) {
    Seen seen(noise, static_cast<std::uint64_t>(time));
    for (int t = 0; t < 42; ++t) {
      const Shape truth = moved(t < 30 ? 0 : step), calm = seen.smooth(seen.raw(truth));
      if (t < 30) continue;
      const Shape way = moved(step) - moved(0);
      missing += static_cast<double>((truth - calm).cwiseProduct(way).sum() / way.squaredNorm());
    }
  }
  return missing / kTimes;
}

TEST(Smoothing, IsLessThanAFrameBehindAfterAStepOfTheFace) {
  for (const float step : {0.02F, 0.05F, 0.2F}) {
    EXPECT_LT(lag_after(step, 0.003F, [](float way) { return face_at(100 + kUnit * way, 80); }), 1)
        << step;
    EXPECT_LT(lag_after(step, 0.003F, [](float way) { return face_at(100, 80, 2 * way); }), 1)
        << step;
  }
}

TEST(Smoothing, IsLessThanAFrameBehindWhereAPartOfTheFaceMoves) {
  EXPECT_LT(lag_after(0.05F, 0.003F,
                      [](float way) {
                        Shape points = face_at(100, 80);
                        points.block(1, 5, 1, 2).array() += kUnit * way;  // the mouth's corners
                        return points;
                      }),
            1);
}

TEST(Smoothing, RunsLessThanAFrameBehindAFaceThatMoves) {
  for (const float speed : {0.01F, 0.03F, 0.1F}) {  // units a frame
    double behind = 0;
    for (std::uint64_t time = 0; time < 20; ++time) {
      Seen seen(0.003F, time);
      for (int t = 0; t < 60; ++t) {
        const float way = speed * static_cast<float>(std::max(0, t - 30));
        const Shape truth = face_at(100 + kUnit * way, 80), calm = seen.smooth(seen.raw(truth));
        if (t >= 50) behind += static_cast<double>((truth - calm).row(0).mean() / kUnit) / 200;
      }
    }
    EXPECT_LT(behind, static_cast<double>(speed)) << speed;
  }
}

// Nodding is smooth: it is not taken for noise, however strong and long it is.
TEST(Smoothing, FollowsAHeadThatNodsForLong) {
  Seen seen(0.003F);
  double behind = 0;
  for (int t = 0; t < 400; ++t) {
    const float way = 0.35F * std::sin(0.25F * static_cast<float>(t));
    const Shape truth = face_at(100, 80 + kUnit * way);
    const double off = distance(seen.smooth(seen.raw(truth)), truth);
    if (t >= 300) behind += off / 100;
  }
  EXPECT_LT(behind, 0.012);
}

TEST(Smoothing, StartsAfreshWhenTimeDoesNotGoOn) {
  Smoother smoother(drawn_mean());
  Shape points = face_at(100, 80);
  smoother.apply(points, 1);
  for (const double time : {1.0, 0.5}) {
    points = face_at(30, 30);
    smoother.apply(points, time);
    EXPECT_EQ(points, face_at(30, 30));
    smoother.reset();
    points = face_at(100, 80);
    smoother.apply(points, time);
  }
}

TEST(Smoothing, RefusesLimitsThatAreNone) {
  const auto refused = [](const SmoothingOptions& options, const char* word) {
    EXPECT_THAT([&] { Smoother(drawn_mean(), options); }, ThrowsMessage<Error>(HasSubstr(word)));
  };
  SmoothingOptions options;
  options.memory = 0;
  refused(options, "memory is 0");
  options = {};
  options.noise = -1;
  refused(options, "noise is -1");
  options = {};
  options.still = 5;
  refused(options, "expected more than 5");
}

// Point 3 is hidden from frame 60 on and guessed a fifth of a unit off, now here, now there.
TEST(Smoothing, HoldsAPointThatIsNotSeenAndLetsGoWhenItIs) {
  const Shape truth = face_at(100, 80, 0.2F);
  for (const bool told : {false, true}) {
    Smoother smoother(drawn_mean());
    Random random(5, "points");
    Vector<float> visible = Vector<float>::Ones(truth.cols());
    double hidden = 0, others = 0;
    for (int t = 0; t < 120; ++t) {
      Shape points = truth;
      for (float& value : points.reshaped())
        value += kUnit * 0.003F * static_cast<float>(random.normal());
      if (t >= 60) {
        visible[3] = 0.05F;
        points(0, 3) += kUnit * (t / 5 % 2 == 0 ? 0.2F : -0.2F);
      }
      smoother.apply(points, 0.04 * t, told ? visible : Vector<float>());
      const Eigen::RowVectorXf off = (points - truth).colwise().norm() / kUnit;
      if (t < 60) continue;
      hidden = std::max(hidden, static_cast<double>(off[3]));
      others = std::max(others, static_cast<double>(off[5]));
    }
    EXPECT_LT(others, 0.06);  // the guess pulls at the place of the whole face
    if (told) {
      EXPECT_LT(hidden, 0.15);
    } else {
      EXPECT_GT(hidden, 0.17);
    }
    // Seen again, somewhere else: there at once.
    visible[3] = 1;
    Shape there = truth;
    there(1, 3) += kUnit * 0.3F;
    for (int t = 120; t < 122; ++t) {
      Shape points = there;
      smoother.apply(points, 0.04 * t, told ? visible : Vector<float>());
      if (t == 121) {
        EXPECT_LT((points - there).col(3).norm() / kUnit, 0.05F);
      }
    }
  }
}

}  // namespace
}  // namespace sdm::face
