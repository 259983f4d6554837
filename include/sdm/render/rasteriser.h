#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sdm/render/mesh.h"

namespace sdm::render {

/// The largest whole number that is not above `value`. std::floor is a call where the compiler may
/// not use SSE 4.
inline int whole_below(float value) {
  const int whole = static_cast<int>(value);
  return whole - (value < static_cast<float>(whole) ? 1 : 0);
}

/// A pinhole on the z axis, `distance` from the origin, looking back at it. (cx, cy) is where the
/// axis meets the picture; pixel centres have whole coordinates.
struct Camera {
  float focal = 1, distance = 100, cx = 0, cy = 0;

  /// x, y in pixels and the depth, the distance along the axis.
  Eigen::Vector3f project(const Eigen::Vector3f& point) const {
    const float depth = distance - point.z();
    return {cx + focal * point.x() / depth, cy - focal * point.y() / depth, depth};
  }
};

/// What a raster shows at a pixel: the nearest triangle, and the weights of its second and third
/// vertex there, in space.
struct Fragment {
  int triangle = -1;
  float second = 0, third = 0;
  float depth = std::numeric_limits<float>::infinity();
};

class Raster {
 public:
  Raster(int width, int height) { reset(width, height); }

  /// Empties it.
  void reset(int width, int height) {
    width_ = width, height_ = height;
    fragments_.assign(std::size_t(width) * std::size_t(height), Fragment());
  }
  int width() const { return width_; }
  int height() const { return height_; }
  Fragment& at(int x, int y) {
    return fragments_[std::size_t(y) * std::size_t(width_) + std::size_t(x)];
  }
  const Fragment& at(int x, int y) const {
    return fragments_[std::size_t(y) * std::size_t(width_) + std::size_t(x)];
  }

  /// Draws triangles of projected points (x, y, depth). `perspective`: weights and depths are those
  /// in space; else all is linear in the picture. `shown(triangle, w0, w1, w2)` may leave fragments
  /// out: holes between hairs. `one_sided(triangle)` leaves out triangles that turn their back.
  template <class Shown, class OneSided>
  void draw(const Points& projected, const std::vector<Triangle>& triangles, bool perspective,
            const Shown& shown, const OneSided& one_sided) {
    for (std::size_t i = 0; i < triangles.size(); ++i) {
      const float* a = projected.col(triangles[i][0]).data();
      const float* b = projected.col(triangles[i][1]).data();
      const float* c = projected.col(triangles[i][2]).data();
      if (perspective && !(a[2] > 0 && b[2] > 0 && c[2] > 0)) continue;  // behind the camera
      const float left = std::min({a[0], b[0], c[0]}), right = std::max({a[0], b[0], c[0]});
      const float top = std::min({a[1], b[1], c[1]}), bottom = std::max({a[1], b[1], c[1]});
      if (!(right >= 0 && bottom >= 0 && left <= float(width_ - 1) && top <= float(height_ - 1)))
        continue;
      const int x0 = std::max(0, -whole_below(-std::max(left, -1.0F)));
      const int x1 = std::min(width_ - 1, whole_below(std::min(right, float(width_))));
      const int y0 = std::max(0, -whole_below(-std::max(top, -1.0F)));
      const int y1 = std::min(height_ - 1, whole_below(std::min(bottom, float(height_))));
      if (x0 > x1 || y0 > y1) continue;
      const float bx = b[0] - a[0], by = b[1] - a[1], cx = c[0] - a[0], cy = c[1] - a[1];
      const float area = bx * cy - cx * by;
      // Counter-clockwise triangles face the viewer; in a picture y goes down.
      if (area > 0 && one_sided(int(i))) continue;
      if (std::abs(area) < 1e-9F) continue;
      const float scale = 1 / area;
      for (int y = y0; y <= y1; ++y) {
        const float py = float(y) - a[1];
        for (int x = x0; x <= x1; x += kLanes) {
          const Lanes px = Lanes(0, 1, 2, 3) + float(x) - a[0];
          Lanes w1 = (px * cy - cx * py) * scale, w2 = (bx * py - px * by) * scale;
          Lanes w0 = 1 - w1 - w2, depth;
          const Lanes least = w0.min(w1).min(w2);
          if (least.maxCoeff() < -1e-5F) continue;
          if (perspective) {
            w0 /= a[2], w1 /= b[2], w2 /= c[2];
            depth = 1 / (w0 + w1 + w2);
            w0 *= depth, w1 *= depth, w2 *= depth;
          } else {
            depth = w0 * a[2] + w1 * b[2] + w2 * c[2];
          }
          Fragment* fragments = &at(x, y);
          for (int k = 0; k < std::min(kLanes, x1 - x + 1); ++k) {
            if (least[k] < -1e-5F || depth[k] >= fragments[k].depth) continue;
            if (shown(int(i), w0[k], w1[k], w2[k])) fragments[k] = {int(i), w1[k], w2[k], depth[k]};
          }
        }
      }
    }
  }
  void draw(const Points& projected, const std::vector<Triangle>& triangles, bool perspective) {
    draw(
        projected, triangles, perspective, [](int, float, float, float) { return true; },
        [](int) { return false; });
  }

 private:
  // Pixels side by side that are computed at once.
  static constexpr int kLanes = 4;
  using Lanes = Eigen::Array<float, kLanes, 1>;

  int width_ = 0, height_ = 0;
  std::vector<Fragment> fragments_;
};

}  // namespace sdm::render
