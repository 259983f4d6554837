#pragma once

#include <cmath>
#include <cstdint>

#include "sdm/image/image_view.h"
#include "sdm/rigid/region.h"

namespace sdm::rigid {

/// A smooth texture known at every point, so that frames of any warp are exact.
inline double texture(double u, double v) {
  return 128 + 45 * std::sin(u / 5 + std::sin(v / 11)) +
         45 * std::sin(v / 7 + 2 * std::sin(u / 17));
}

/// The frame in which `warp` takes texture coordinates to pixels; grey values times gain.
inline image::Image<std::uint8_t> frame_of(const Warp& warp, double gain = 1) {
  image::Image<std::uint8_t> frame(320, 240);
  const Warp back = inverse(warp);
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) {
      const Eigen::Vector2d at = apply(back, {double(x), double(y)});
      frame(x, y) = static_cast<std::uint8_t>(std::lround(gain * texture(at.x(), at.y())));
    }
  return frame;
}

/// The texture's origin in the middle of the frame.
inline Warp centred() {
  Warp warp = Warp::Identity();
  warp.topRightCorner<2, 1>() << 159.5, 119.5;
  return warp;
}

inline Quad middle_box() { return quad_of_box(110, 70, 100, 100); }

inline double corner_error(const Warp& a, const Warp& b) {
  const TemplateShape shape;
  return (shape.corners(a) - shape.corners(b)).colwise().norm().maxCoeff();
}

}  // namespace sdm::rigid
