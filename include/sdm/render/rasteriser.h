#pragma once

#include <cassert>
#include <cstddef>
#include <functional>
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
  /// `only_depths`: of what it shows it keeps the depth alone.
  Raster(int width, int height, bool only_depths = false) : only_depths_(only_depths) {
    reset(width, height);
  }

  /// Empties it.
  void reset(int width, int height);
  int width() const { return width_; }
  int height() const { return height_; }
  /// Needs a raster that keeps more than depths.
  Fragment at(int x, int y) const {
    assert(!only_depths_);
    const std::size_t i = index(x, y);
    return {triangle_.data()[i], second_.data()[i], third_.data()[i], depth_.data()[i]};
  }
  /// The depths from this pixel to the end of its row.
  const float* depths(int x, int y) const { return depth_.data() + index(x, y); }

  /// Whether there is something at a place of a triangle, by the weights of its vertices.
  using Shown = std::function<bool(int triangle, float w0, float w1, float w2)>;
  using OneSided = std::function<bool(int triangle)>;
  /// How much of a triangle there is. Of holed ones alone `Shown` is asked.
  enum class Extent : unsigned char { whole, holed, none };
  using ExtentOf = std::function<Extent(int triangle)>;

  /// Draws triangles of projected points (x, y, depth). `perspective`: weights and depths are those
  /// in space; else all is linear in the picture. `shown` may leave fragments out: holes between
  /// hairs. `one_sided` leaves out triangles that turn their back. Without `extent` all are holed.
  void draw(const Points& projected, const std::vector<Triangle>& triangles, bool perspective,
            const Shown& shown = nullptr, const OneSided& one_sided = nullptr,
            const ExtentOf& extent = nullptr);

 private:
  std::size_t index(int x, int y) const {
    return std::size_t(y) * std::size_t(width_) + std::size_t(x);
  }

  int width_ = 0, height_ = 0;
  bool only_depths_ = false;
  std::vector<float> depth_;
  std::vector<int> triangle_;
  std::vector<float> second_, third_;
};

}  // namespace sdm::render
