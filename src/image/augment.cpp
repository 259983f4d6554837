#include "sdm/image/augment.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "image/checks.h"
#include "sdm/base/error.h"
#include "sdm/base/random.h"

namespace sdm::image {
void motion_blur(FloatView src, float length, float angle, ImageView<float> dst) {
  checks::same_size(src.width, src.height, dst.width, dst.height);
  if (!(length <= 1000) || !std::isfinite(length) || !std::isfinite(angle)) {
    throw Error(
        formatted("motion blur of {} px at {} rad, expected at most 1000 px and a finite "
                  "angle",
                  length, angle));
  }
  if (src.empty()) return;
  const int taps = std::max(1, int(std::ceil(length)));
  const int margin = taps / 2 + 2;
  // A copy with its borders drawn out, so that every tap is a shifted read.
  Image<float> padded(src.width + 2 * margin, src.height + 2 * margin);
  for (int y = 0; y < padded.height(); ++y) {
    const float* row = src.row(std::clamp(y - margin, 0, src.height - 1));
    float* out = padded.view().row(y);
    std::fill_n(out, margin, row[0]);
    std::copy_n(row, src.width, out + margin);
    std::fill_n(out + margin + src.width, margin, row[src.width - 1]);
  }
  for (int y = 0; y < dst.height; ++y) std::fill_n(dst.row(y), dst.width, 0.f);
  const float spacing = taps > 1 ? length / float(taps) : 0.f;
  for (int tap = 0; tap < taps; ++tap) {
    const float t = (float(tap) - 0.5f * float(taps - 1)) * spacing;
    const float dx = t * std::cos(angle), dy = t * std::sin(angle);
    const int x0 = int(std::floor(dx)), y0 = int(std::floor(dy));
    const float fx = dx - float(x0), fy = dy - float(y0), weight = 1 / float(taps);
    const float a = (1 - fx) * (1 - fy) * weight, b = fx * (1 - fy) * weight;
    const float c = (1 - fx) * fy * weight, d = fx * fy * weight;
    for (int y = 0; y < dst.height; ++y) {
      const float* top = padded.view().row(y + margin + y0) + margin + x0;
      const float* bottom = padded.view().row(y + margin + y0 + 1) + margin + x0;
      float* out = dst.row(y);
      for (int x = 0; x < dst.width; ++x) {
        out[x] += a * top[x] + b * top[x + 1] + c * bottom[x] + d * bottom[x + 1];
      }
    }
  }
}

void add_noise(ImageView<float> image, float sigma, std::uint64_t seed, std::uint64_t index) {
  if (!(sigma >= 0) || !std::isfinite(sigma)) {
    throw Error(formatted("noise deviation is {}, expected 0 or more", sigma));
  }
  Random random(seed, "image noise", index);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      image(x, y) += sigma * static_cast<float>(random.normal());
}

}  // namespace sdm::image
