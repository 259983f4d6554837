#include "sdm/face/smoothing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sdm/base/error.h"
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

TEST(Smoothing, HalvesTheTremble) {
  Smoother smoother(drawn_mean());
  std::mt19937 random(1);
  double raw = 0, smooth = 0;
  Shape raw_before = face_at(100, 80), before = raw_before;
  for (int t = 0; t < 200; ++t) {
    Shape points = face_at(100, 80);
    for (float& value : points.reshaped())
      value += 0.3F * (static_cast<float>(random() >> 8) * 0x1p-23F - 1);
    raw += distance(points, raw_before);
    raw_before = points;
    smoother.apply(points, 0.04 * t);
    smooth += distance(points, before);
    before = points;
  }
  EXPECT_LT(smooth, 0.5 * raw);
}

// At constant speed v a low-pass of cutoff f is v / (2 pi f) behind; f grows with v.
TEST(Smoothing, StaysNearAFaceThatMoves) {
  const SmoothingOptions options;
  for (const float speed : {0.5F, 2.0F, 5.0F}) {  // units a second
    Smoother smoother(drawn_mean(), options);
    double behind = 0;
    for (int t = 0; t < 50; ++t) {
      const float way = kUnit * speed * 0.04F * static_cast<float>(t);
      Shape points = face_at(100 + way, 80);
      smoother.apply(points, 0.04 * t);
      behind = distance(points, face_at(100 + way, 80));
    }
    EXPECT_LT(behind, 1.05 / (2 * 3.14159 * options.speed_cutoff)) << speed;
  }
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

TEST(Smoothing, RefusesACutoffThatIsNone) {
  SmoothingOptions options;
  options.cutoff = 0;
  EXPECT_THAT([&] { Smoother(drawn_mean(), options); }, ThrowsMessage<Error>(HasSubstr("cutoff")));
}

}  // namespace
}  // namespace sdm::face
