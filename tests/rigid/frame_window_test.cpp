#include "sdm/rigid/frame_window.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "sdm/rigid/canvas.h"
#include "tests/rigid/texture.h"

namespace sdm::rigid {
namespace {

TEST(Smoothing, IsTheBinomialFilterInBothDirections) {
  std::mt19937 random(3);
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 7}, {37, 21}}) {
    image::Image<std::uint8_t> src(width, height), dst(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) src(x, y) = random() % 3 == 0 ? 255 : std::uint8_t(random());
    std::vector<std::uint16_t> row(std::size_t(width) + 4);
    smooth(src, dst, row);
    const int weights[] = {1, 4, 6, 4, 1};
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        double sum = 0;
        for (int j = 0; j < 5; ++j)
          for (int i = 0; i < 5; ++i)
            sum += weights[i] * weights[j] *
                   src(std::clamp(x + i - 2, 0, width - 1), std::clamp(y + j - 2, 0, height - 1));
        EXPECT_EQ(dst(x, y), int(std::floor(sum / 256 + 0.5)));
      }
  }
}

TEST(AFrameWindow, ShowsTheSamePointsAsTheFrame) {
  // A linear picture survives shrinking and smoothing, so every sample tells where it was taken.
  image::Image<std::uint8_t> frame(1200, 900);
  for (int y = 0; y < 900; ++y)
    for (int x = 0; x < 1200; ++x) frame(x, y) = std::uint8_t(x / 8 + y / 12);
  const Quad quad = quad_of_box(300, 200, 500, 500);
  const TemplateShape shape = shape_of(quad);
  const Warp warp = warp_to(shape, quad);
  FrameWindow window(true);
  window.look(frame, shape, warp);
  EXPECT_LT(window.view().width, 512);
  const Canvas canvas = make_canvas(shape, 50, {});
  image::Image<float> seen(canvas.width, canvas.height);
  sample(window.view(), window.in_view(warp), canvas, seen);
  for (int y = 0; y < canvas.height; y += 7)
    for (int x = 0; x < canvas.width; x += 7) {
      const Eigen::Vector2d at = apply(compose(warp, canvas.to_template()), {double(x), double(y)});
      // Rounding down to whole grey levels costs half a level for each term.
      EXPECT_NEAR(seen(x, y), at.x() / 8 + at.y() / 12 - 0.9, 0.3);
    }
}

TEST(AFrameWindow, OutsideTheFrameFallsBackToIt) {
  const image::Image<std::uint8_t> frame(100, 80);
  Warp away = Warp::Identity();
  away.topRightCorner<2, 1>() << 5000, 5000;
  FrameWindow window(true);
  window.look(frame, {}, away);
  EXPECT_EQ(window.view().width, 100);
  EXPECT_TRUE(window.in_view(away).isApprox(away));
}

TEST(AFrameWindow, OfAWarpThatIsNotFiniteIsTheFrame) {
  const image::Image<std::uint8_t> frame(100, 80);
  FrameWindow window(true);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Warp warp = Warp::Identity();
    warp(0, 2) = bad;
    window.look(frame, {}, warp);
    EXPECT_EQ(window.view().data, frame.view().data);
    EXPECT_EQ(window.view().width, 100);
  }
}

}  // namespace
}  // namespace sdm::rigid
