#include "sdm/image/resample.h"

#include <gtest/gtest.h>

#include <cmath>

#include "image/scalar.h"
#include "sdm/base/error.h"
#include "tests/every_target.h"
#include "tests/image/pictures.h"

namespace sdm::image {
namespace {

AffineMap similarity(double scale, double angle, double x, double y) {
  AffineMap map;
  map << scale * std::cos(angle), -scale * std::sin(angle), x, scale * std::sin(angle),
      scale * std::cos(angle), y;
  return map;
}

TEST(Shrink, ByAnyFactorEqualsItsScalarTwinBitForBit) {
  const int sizes[][2] = {{1, 1}, {2, 2}, {31, 17}, {33, 64}, {1030, 9}, {300, 280}};
  for (const auto& [w, h] : sizes) {
    const auto src = noise<std::uint8_t>(w, h, unsigned(w));
    for (int factor : {1, 2, 3, 4, 5, 7, 8, 16, 100, 256}) {
      Image<std::uint8_t> expected(w / factor, h / factor), found(w / factor, h / factor);
      scalar::shrink(src, factor, expected);
      on_every_target([&] {
        shrink(src, factor, found);
        EXPECT_EQ(largest_difference(expected, found), 0)
            << src.width() << " x " << src.height() << " / " << factor;
      });
    }
  }
}

TEST(Shrink, OfWhiteIsWhite) {
  const Image<std::uint8_t> white(512, 512, 255);
  for (int factor : {2, 3, 256}) {
    Image<std::uint8_t> out(512 / factor, 512 / factor);
    shrink(white, factor, out);
    EXPECT_EQ(largest_difference(out, Image<std::uint8_t>(out.width(), out.height(), 255)), 0);
  }
}

TEST(Shrink, RefusesAWrongFactorOrSize) {
  const auto src = noise<std::uint8_t>(10, 10, 1);
  Image<std::uint8_t> out(5, 5);
  EXPECT_THROW(shrink(src, 0, out), Error);
  EXPECT_THROW(shrink(src, 257, out), Error);
  EXPECT_THROW(shrink(src, 3, out), Error);
}

TEST(Resampler, IsAPlainWarpBelowScaleTwo) {
  const auto src = noise<std::uint8_t>(90, 80, 2);
  const AffineMap map = similarity(1.9, 0.3, -5, 10);
  Image<float> expected(40, 40), found(40, 40);
  warp_affine(src, map, expected);
  Resampler(40, 40)(src, map, found);
  EXPECT_EQ(largest_difference(expected, found), 0);
}

TEST(Resampler, SeesTheLevelOfAFullPyramid) {
  const auto src = noise<std::uint8_t>(512, 384, 3);
  for (int step : {2, 4, 8}) {
    Image<std::uint8_t> level(512 / step, 384 / step);
    shrink(src, step, level);
    // Reaches past the left and the lower border.
    const AffineMap map = similarity(1.3 * step, 0.4, 20, 150);
    AffineMap onto_level = map / step;
    onto_level.col(2).array() -= 0.5 * (step - 1) / step;
    Image<float> expected(60, 50), found(60, 50);
    warp_affine(level, onto_level, expected);
    Resampler(60, 50)(src, map, found);
    EXPECT_LE(largest_difference(expected, found), 0.01) << step;
  }
}

TEST(Resampler, OfTheSamePictureGivesWhatAFreshOneDoes) {
  const auto src = noise<std::uint8_t>(300, 260, 3), other = noise<std::uint8_t>(300, 260, 4);
  Resampler used(60, 50);
  const auto expect_fresh = [&](ByteView picture, const AffineMap& map, bool is_same) {
    Image<float> expected(60, 50), found(60, 50);
    Resampler(60, 50)(picture, map, expected);
    used(picture, map, found, is_same);
    EXPECT_EQ(largest_difference(expected, found), 0);
  };
  expect_fresh(src, similarity(2.6, 0.1, 80, 60), false);
  expect_fresh(src, similarity(2.2, 0.1, 90, 70), true);    // within what was seen
  expect_fresh(src, similarity(2.6, 0.1, 120, 110), true);  // beyond
  expect_fresh(src, similarity(4.1, 0.1, 30, 20), true);    // shrunk more
  expect_fresh(other, similarity(4.1, 0.1, 30, 20), false);
  expect_fresh(src, similarity(1.5, 0.1, 30, 20), false);  // not shrunk
  expect_fresh(src, similarity(4.1, 0.1, 30, 20), true);
}

TEST(Resampler, KeepsASmoothPictureInPlace) {
  auto wave = [](double x, double y) { return 128 + 100 * std::sin(x / 40) * std::cos(y / 50); };
  const auto src = picture<std::uint8_t>(800, 700, [&](int x, int y) { return wave(x, y) + 0.5; });
  const AffineMap map = similarity(5, -0.2, 150, 160);
  Image<float> out(80, 80);
  Resampler(80, 80)(src, map, out);
  for (int v = 0; v < 80; v += 7) {
    for (int u = 0; u < 80; u += 7) {
      const Eigen::Vector2d p = map * Eigen::Vector3d(u, v, 1);
      // Averaging 4 px rounds the wave's tops by less than a grey level.
      EXPECT_NEAR(out(u, v), wave(p.x(), p.y()), 1.5);
    }
  }
}

TEST(Resampler, ShowsTheBorderWhenItsRegionLiesOutside) {
  const Image<std::uint8_t> src(64, 64, 90);
  Image<float> out(16, 16);
  Resampler resampler(16, 16);
  for (double far : {-1e6, -100.0, 63.0, 1e9}) {
    for (double scale : {2.5, 9.0, 1e3, 1e7}) {
      resampler(src, similarity(scale, 1, far, -far), out);
      EXPECT_EQ(largest_difference(out, Image<float>(16, 16, 90)), 0) << far << " " << scale;
    }
  }
  const auto tiny = noise<std::uint8_t>(1, 1, 5);
  resampler(tiny, similarity(8, 0, 0, 0), out);
  EXPECT_EQ(out(3, 3), float(tiny(0, 0)));
}

}  // namespace
}  // namespace sdm::image
