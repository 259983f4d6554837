#pragma once

#include <algorithm>
#include <cmath>

#include "sdm/render/rasteriser.h"

namespace sdm::render {

/// A weight that is less is beyond the edge.
inline constexpr float kOutside = -1e-5F;
/// How many pixels a vector may reach beyond the last one.
inline constexpr int kRoom = 8;

/// What a raster keeps of its pixels; without triangles: depths alone.
struct Planes {
  int width, height;
  float* depth;
  int* triangle;
  float *second, *third;
};

/// A projected triangle and the pixels that it may cover.
struct Outline {
  const float *a, *b, *c;  // x, y, depth
  int x0, x1, y0, y1;
  float area;
  float nearest;  // no fragment is nearer

  /// False: it covers none.
  bool of(const Points& projected, const Triangle& triangle, bool perspective, int width,
          int height) {
    const auto least_of = [](float p, float q, float r) { return std::min(p, std::min(q, r)); };
    const auto most_of = [](float p, float q, float r) { return std::max(p, std::max(q, r)); };
    a = projected.data() + 3 * triangle[0];
    b = projected.data() + 3 * triangle[1];
    c = projected.data() + 3 * triangle[2];
    const float near = least_of(a[2], b[2], c[2]), far = most_of(a[2], b[2], c[2]);
    if (perspective && !(near > 0)) return false;  // behind the camera
    const float left = least_of(a[0], b[0], c[0]), right = most_of(a[0], b[0], c[0]);
    const float top = least_of(a[1], b[1], c[1]), bottom = most_of(a[1], b[1], c[1]);
    if (!(right >= 0 && bottom >= 0 && left <= float(width - 1) && top <= float(height - 1)))
      return false;
    x0 = std::max(0, -whole_below(-std::max(left, -1.0F)));
    x1 = std::min(width - 1, whole_below(std::min(right, float(width))));
    y0 = std::max(0, -whole_below(-std::max(top, -1.0F)));
    y1 = std::min(height - 1, whole_below(std::min(bottom, float(height))));
    if (x0 > x1 || y0 > y1) return false;
    area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
    if (std::abs(area) < 1e-9F) return false;
    // A mean by weights of kOutside or more is at most so much nearer, rounding included.
    nearest = near - 1e-4F * std::max(std::abs(near), std::abs(far));
    return true;
  }
};

}  // namespace sdm::render
