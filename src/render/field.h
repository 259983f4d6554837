#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "sdm/base/random.h"
#include "sdm/image/image_view.h"
#include "sdm/render/rasteriser.h"

namespace sdm::render {

/// A picture of numbers: reflectances, coverages, light.
using Field = image::Image<float>;

/// Bilinear, with pixel centres at whole coordinates and the border's value outside.
inline float sample(const Field& field, float x, float y) {
  const int w = field.width(), h = field.height();
  x = std::clamp(x, 0.0F, float(w - 1)), y = std::clamp(y, 0.0F, float(h - 1));
  const int x0 = std::min(int(x), std::max(0, w - 2)), y0 = std::min(int(y), std::max(0, h - 2));
  const float fx = x - float(x0), fy = y - float(y0);
  const image::FloatView view = field;
  const float* top = view.row(y0) + x0;
  const float* bottom = h > 1 ? top + view.stride : top;
  const int right = w > 1 ? 1 : 0;
  return (1 - fy) * ((1 - fx) * top[0] + fx * top[right]) +
         fy * ((1 - fx) * bottom[0] + fx * bottom[right]);
}

/// Close to a Gaussian: three box means.
void blur(Field& field, float sigma);

inline constexpr float kDegree = std::numbers::pi_v<float> / 180;

/// Even on [low, high).
float between(Random& random, double low, double high);
/// Linear in a table of (x, y) with growing x, constant beyond its ends.
float interpolate(std::span<const std::pair<float, float>> table, float x);

inline float squared(float value) { return value * value; }
inline float clamp01(float value) { return std::clamp(value, 0.0F, 1.0F); }
/// 0 at `from`, 1 at `to`, linear between.
inline float ramp(float from, float to, float value) {
  return clamp01((value - from) / (to - from));
}

/// Smooth random numbers of deviation about 0.6 on the plane, that repeat every 256.
class Noise {
 public:
  explicit Noise(std::uint64_t seed);
  float operator()(float x, float y) const {
    const int ix = whole_below(x), iy = whole_below(y);
    float u = x - float(ix), v = y - float(iy);
    u = u * u * (3 - 2 * u), v = v * v * (3 - 2 * v);
    const unsigned left = unsigned(ix) & 255U, top = (unsigned(iy) & 255U) << 8;
    const unsigned right = (left + 1) & 255U, bottom = (top + 256) & 0xff00U;
    const float above = lattice_[top | left] * (1 - u) + lattice_[top | right] * u;
    const float below = lattice_[bottom | left] * (1 - u) + lattice_[bottom | right] * u;
    return above * (1 - v) + below * v;
  }
  /// The independent normal number at a place of the lattice.
  float white(std::uint32_t i) const { return lattice_[i & 0xffffU]; }

 private:
  std::vector<float> lattice_;
};

/// A layer of noise: its grain in units of the caller's coordinates, placed at random.
struct Grain {
  float frequency_x = 1, frequency_y = 1, x = 0, y = 0;

  static Grain random(Random& random, float size_x, float size_y);
  float operator()(const Noise& noise, float u, float v) const {
    return noise(x + u * frequency_x, y + v * frequency_y);
  }
};

/// A layer of noise row by row: (0, v), (1, v), ... Neighbouring rows share the lattice's lines
/// above and below them, which are interpolated along a row once.
class GrainRows {
 public:
  GrainRows(const Noise& noise, const Grain& grain, int width);
  /// The numbers of a row, until the next call.
  const float* operator()(float v);

 private:
  void interpolate_line(int number, std::vector<float>& line) const;

  const Noise& noise_;
  Grain grain_;
  std::vector<std::uint32_t> left_;  // column of the lattice
  std::vector<float> share_;         // of the next column
  int number_ = 0;                   // of the line above
  std::vector<float> above_, below_, row_;
};

/// The even-odd inside of a polygon, 1, elsewhere as it was.
void fill_polygon(Field& field, const std::vector<float>& x, const std::vector<float>& y);

/// A line with round ends, blended by its coverage: the larger of both.
void draw_line(Field& field, float x0, float y0, float x1, float y1, float half_width,
               float opacity);

}  // namespace sdm::render
