#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sdm/base/random.h"
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

/// A texture with detail everywhere that repeats nowhere, another one for each `scene`: random
/// greys on a lattice, smoothly joined.
inline double rich_texture(double u, double v, std::uint64_t scene) {
  constexpr double kPitch = 9;
  const double x = u / kPitch, y = v / kPitch;
  const auto grey = [&](double i, double j) {
    // A hash, as the lattice has no bounds.
    std::uint64_t h = scene * 0x9E3779B97F4A7C15ULL +
                      std::uint64_t(std::int64_t(i) + 100000) * 0xBF58476D1CE4E5B9ULL +
                      std::uint64_t(std::int64_t(j) + 100000) * 0x94D049BB133111EBULL;
    h ^= h >> 31;
    h *= 0xBF58476D1CE4E5B9ULL;
    h ^= h >> 29;
    return 30 + 195 * double(h % 1024) / 1023;
  };
  const double i = std::floor(x), j = std::floor(y);
  const auto ease = [](double t) { return t * t * (3 - 2 * t); };
  const double a = ease(x - i), b = ease(y - j);
  return (1 - b) * ((1 - a) * grey(i, j) + a * grey(i + 1, j)) +
         b * ((1 - a) * grey(i, j + 1) + a * grey(i + 1, j + 1));
}

/// The frame of it, with noise of a deviation in grey levels.
inline image::Image<std::uint8_t> rich_frame(const Warp& warp, double noise = 0,
                                             std::uint64_t number = 0, std::uint64_t scene = 1) {
  image::Image<std::uint8_t> frame(320, 240);
  const Warp back = inverse(warp);
  Random random(number, "frame noise");
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) {
      const Eigen::Vector2d at = apply(back, {double(x), double(y)});
      const double grey =
          rich_texture(at.x(), at.y(), scene) + (noise > 0 ? noise * random.normal() : 0);
      frame(x, y) = static_cast<std::uint8_t>(std::lround(std::clamp(grey, 0.0, 255.0)));
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
