#include "sdm/rigid/polish.h"

#include <gtest/gtest.h>

#include "sdm/rigid/frame_window.h"
#include "tests/rigid/texture.h"

namespace sdm::rigid {
namespace {

/// A polisher of the middle box that has looked at a frame.
class Looking {
 public:
  explicit Looking(const image::Image<std::uint8_t>& frame, const Warp& warp = centred())
      : polisher_(made(), Motion::affine) {
    FrameWindow window(true);
    window.look(frame, TemplateShape(), warp);
    polisher_.look(window.view(), window.in_view(warp));
  }
  const Polisher& operator()() const { return polisher_; }

 private:
  static PixelTemplate made() {
    const auto frame = rich_frame(centred());
    FrameWindow window(true);
    window.look(frame, TemplateShape(), centred());
    image::DenseHogOptions hog;
    hog.cell = 5;
    return make_pixel_template(window.view(), window.in_view(centred()),
                               make_canvas(TemplateShape(), 50, hog));
  }
  Polisher polisher_;
};

image::Image<std::uint8_t> half_grey() {
  auto frame = rich_frame(centred());
  for (int y = 0; y < frame.height(); ++y)
    for (int x = 0; x < 160; ++x) frame(x, y) = 90;
  return frame;
}

TEST(APolisher, TellsWhatIsForeignFromWhatIsALittleWayOff) {
  EXPECT_LT(Looking(rich_frame(centred()))().foreign(), 0.01);
  Warp shifted = centred();
  shifted.topRightCorner<2, 1>() += Eigen::Vector2d(3, -2);
  EXPECT_LT(Looking(rich_frame(shifted))().foreign(), 0.06);
  const double half = Looking(half_grey())().foreign();
  EXPECT_GT(half, 0.4);
  EXPECT_LT(half, 0.6);
  EXPECT_GT(Looking(rich_frame(centred(), 0, 0, 7))().foreign(), 0.5);
}

TEST(APolisher, MovesBackByWhatTheFrameWasMovedWithAndWithoutWeights) {
  Warp truth = centred();
  truth.topRightCorner<2, 1>() += Eigen::Vector2d(0.7, -0.4);
  const auto frame = rich_frame(truth);
  FrameWindow window(true);
  window.look(frame, TemplateShape(), centred());
  const Warp start = window.in_view(centred()), there = window.in_view(truth);
  for (const bool covered : {false, true}) {
    Looking looking(rich_frame(centred()));
    Polisher polisher = looking();
    EXPECT_LT(corner_error(compose(start, polisher(window.view(), start, covered)), there), 0.05);
    EXPECT_EQ(polisher.covered(), 0);
  }
}

}  // namespace
}  // namespace sdm::rigid
