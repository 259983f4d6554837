#pragma once

#include <algorithm>
#include <cmath>

#include "sdm/image/image_view.h"
#include "sdm/image/warp.h"

namespace sdm::image {

/// One bilinear sample, as warp.h defines it.
template <class T>
float sample(ImageView<const T> src, float x, float y, Border border) {
  if (border.is_constant) {
    // Written so that NaN is outside too.
    if (!(x > -1 && y > -1 && x < float(src.width) && y < float(src.height))) return border.value;
    const int x0 = int(std::floor(x)), y0 = int(std::floor(y));
    const float fx = x - float(x0), fy = y - float(y0);
    auto tap = [&](int u, int v) {
      return u >= 0 && v >= 0 && u < src.width && v < src.height ? float(src(u, v)) : border.value;
    };
    const float top = tap(x0, y0) + fx * (tap(x0 + 1, y0) - tap(x0, y0));
    const float bottom = tap(x0, y0 + 1) + fx * (tap(x0 + 1, y0 + 1) - tap(x0, y0 + 1));
    return top + fy * (bottom - top);
  }
  x = x > 0 ? std::min(x, float(src.width - 1)) : 0.f;
  y = y > 0 ? std::min(y, float(src.height - 1)) : 0.f;
  const int x0 = std::min(int(x), std::max(src.width - 2, 0));
  const int y0 = std::min(int(y), std::max(src.height - 2, 0));
  const int x1 = std::min(x0 + 1, src.width - 1), y1 = std::min(y0 + 1, src.height - 1);
  const float fx = x - float(x0), fy = y - float(y0);
  const float top = float(src(x0, y0)) + fx * (float(src(x1, y0)) - float(src(x0, y0)));
  const float bottom = float(src(x0, y1)) + fx * (float(src(x1, y1)) - float(src(x0, y1)));
  return top + fy * (bottom - top);
}

inline void store(float value, float& pixel) { pixel = value; }
inline void store(float value, std::int16_t& pixel) {
  pixel = std::int16_t(std::lrintf(kPixelParts * std::clamp(value, -256.f, 255.99f)));
}
inline void store(float value, std::uint8_t& pixel) {
  pixel = std::uint8_t(std::lrintf(std::clamp(value, 0.f, 255.f)));
}

}  // namespace sdm::image
