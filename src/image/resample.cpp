#include "sdm/image/resample.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "base/simd.h"
#include "image/checks.h"
#include "sdm/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/resample.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sdm::image::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
constexpr int kAhead = 4;  // rows that are fetched before their turn

// The next level of a pyramid. Two bytes side by side are the halves of one 16-bit number.
void halve_rows(ByteView src, ImageView<std::uint8_t> dst) {
  const hn::ScalableTag<std::uint16_t> wide;
  const hn::RebindToSigned<decltype(wide)> narrowable;
  const hn::Repartition<std::uint8_t, decltype(wide)> pairs;
  const hn::Rebind<std::uint8_t, decltype(wide)> bytes;
  const int lanes = int(hn::Lanes(wide));
  auto sum_pairs = [&](const std::uint8_t* p) HWY_ATTR {
    const auto v = hn::BitCast(wide, hn::LoadU(pairs, p));
    return hn::Add(hn::And(v, hn::Set(wide, 255)), hn::ShiftRight<8>(v));
  };
  for (int v = 0; v < dst.height; ++v) {
    const std::uint8_t *top = src.row(2 * v), *bottom = src.row(2 * v + 1);
    // Rows of a large picture are too far apart for the processor to fetch the next ones by itself.
    const int ahead = 2 * std::min(v + kAhead, dst.height - 1);
    for (int x = 0; x < 2 * dst.width; x += 64) {
      hwy::Prefetch(src.row(ahead) + x);
      hwy::Prefetch(src.row(ahead + 1) + x);
    }
    for (int i = 0; i < dst.width; i += lanes) {
      // The last vector ends with the row and repeats some of the one before.
      const int u = std::min(i, dst.width - lanes);
      const auto sum = hn::Add(sum_pairs(top + 2 * u), sum_pairs(bottom + 2 * u));
      const auto mean = hn::ShiftRight<2>(hn::Add(sum, hn::Set(wide, 2)));
      hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(narrowable, mean)), bytes, dst.row(v) + u);
    }
  }
}
#endif

// Columns of `factor` pixels are summed in vectors of 16-bit numbers (256 bytes fit), then each
// output pixel adds its columns.
void shrink_rows(ByteView src, int factor, ImageView<std::uint8_t> dst) {
#if HWY_TARGET != HWY_SCALAR
  const bool fills_a_vector = dst.width >= int(hn::Lanes(hn::ScalableTag<std::uint16_t>()));
  if (factor == 2 && fills_a_vector) return halve_rows(src, dst);
#endif
  const hn::CappedTag<std::uint16_t, 16> wide;
  const hn::Rebind<std::uint8_t, decltype(wide)> bytes;
  const int lanes = int(hn::Lanes(wide));
  constexpr int kColumns = 1024;
  HWY_ALIGN std::uint16_t columns[kColumns];
  const int step = kColumns / factor;
  const std::uint32_t area = std::uint32_t(factor * factor);
  // Divides by multiplication; exact, since a sum has at most 24 bits and the quotient 8.
  const std::uint64_t inverse = ((std::uint64_t(1) << 40) + area - 1) / area;
  for (int v = 0; v < dst.height; ++v) {
    for (int u = 0; u < dst.width; u += step) {
      const int count = std::min(step, dst.width - u);
      const ByteView block = src.crop(u * factor, v * factor, count * factor, factor);
      int x = 0;
      for (; x + lanes <= block.width; x += lanes) {
        auto sum = hn::Zero(wide);
        for (int y = 0; y < factor; ++y) {
          sum = hn::Add(sum, hn::PromoteTo(wide, hn::LoadU(bytes, block.row(y) + x)));
        }
        hn::Store(sum, wide, columns + x);
      }
      for (; x < block.width; ++x) {
        int sum = 0;
        for (int y = 0; y < factor; ++y) sum += block(x, y);
        columns[x] = std::uint16_t(sum);
      }
      const std::uint16_t* column = columns;
      for (int i = 0; i < count; ++i) {
        std::uint32_t sum = area / 2;
        for (int j = 0; j < factor; ++j) sum += *column++;
        dst(u + i, v) = std::uint8_t((sum * inverse) >> 40);
      }
    }
  }
}

}  // namespace
}  // namespace sdm::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::image {
namespace {

HWY_EXPORT(shrink_rows);

// Side of the region that an output of this size needs: under any rotation its diagonal, at a scale
// under 2, with the neighbours that interpolation reads.
std::size_t region_size(int width, int height) {
  const double side = 2 * std::hypot(width, height) + 4;
  return std::size_t(side * side);
}

/// The pixels along an axis that show [low, high], in whole steps.
Resampler::Range needed(double low, double high, int step, int size) {
  auto whole = [&](double v) { return int(std::clamp(std::floor(v / step), 0.0, 1e9 / step)); };
  const int last = std::min((whole(std::min(high, double(size))) + 2) * step, size / step * step);
  // A region that lies outside the picture still needs its border pixels.
  const int first = std::clamp((whole(low) - 1) * step, 0, last - step);
  return {first, last};
}

}  // namespace

void shrink(ByteView src, int factor, ImageView<std::uint8_t> dst) {
  checks::shrink(src, factor, dst);
  HWY_DYNAMIC_DISPATCH(shrink_rows)(src, factor, dst);
}

Resampler::Resampler(int max_width, int max_height) {
  if (max_width < 1 || max_height < 1) {
    throw Error(formatted("room for resampling is {} x {}, expected at least 1 x 1", max_width,
                          max_height));
  }
  region_.resize(region_size(max_width, max_height));
}

template <class T>
void Resampler::draw(ByteView src, const AffineMap& map, ImageView<T> dst, bool is_same) {
  checks::source(src.width, src.height);
  checks::map({map.data(), 6});
  const double scale = std::sqrt(std::abs(map(0, 0) * map(1, 1) - map(0, 1) * map(1, 0)));
  if (!is_same) step_ = 0;
  int step = 1;
  while (scale >= 2 * step && 2 * step <= std::min({src.width, src.height, 256})) step *= 2;
  if (step == 1 || dst.empty()) return warp_affine(src, map, dst);

  Eigen::Matrix<double, 2, 4> corners;
  const double right = dst.width - 1, bottom = dst.height - 1;
  corners << 0, right, 0, right, 0, 0, bottom, bottom;
  corners = (map.leftCols<2>() * corners).colwise() + map.col(2);
  const Range x = needed(corners.row(0).minCoeff(), corners.row(0).maxCoeff(), step, src.width);
  const Range y = needed(corners.row(1).minCoeff(), corners.row(1).maxCoeff(), step, src.height);
  if (step != step_) {
    shrink_region(src, x, y, step);
  } else if (!x_.holds(x) || !y_.holds(y)) {
    // What is shown of a picture once will often be shown again.
    const Range wide = x_.with(x), high = y_.with(y);
    const auto room = region_.size() * std::size_t(step) * std::size_t(step);
    const bool fits = std::size_t(wide.size()) * std::size_t(high.size()) <= room;
    fits ? shrink_region(src, wide, high, step) : shrink_region(src, x, y, step);
  }
  const ByteView region = region_view_.crop(
      (x.first - x_.first) / step, (y.first - y_.first) / step, x.size() / step, y.size() / step);

  // The centre of a shrunk pixel is the middle of the pixels it stands for.
  AffineMap onto_region = map / step;
  onto_region(0, 2) -= (x.first + 0.5 * (step - 1)) / step;
  onto_region(1, 2) -= (y.first + 0.5 * (step - 1)) / step;
  warp_affine(region, onto_region, dst);
}

void Resampler::shrink_region(ByteView src, Range x, Range y, int step) {
  step_ = step;
  x_ = x;
  y_ = y;
  const int width = x.size() / step, height = y.size() / step;
  const std::size_t size = std::size_t(width) * std::size_t(height);
  if (size > region_.size()) region_.resize(size);
  const ImageView<std::uint8_t> region(region_.data(), width, height);
  shrink(src.crop(x.first, y.first, x.size(), y.size()), step, region);
  region_view_ = region;
}

void Resampler::operator()(ByteView src, const AffineMap& map, ImageView<float> dst, bool is_same) {
  draw(src, map, dst, is_same);
}
void Resampler::operator()(ByteView src, const AffineMap& map, ImageView<std::int16_t> dst,
                           bool is_same) {
  draw(src, map, dst, is_same);
}

}  // namespace sdm::image
#endif  // HWY_ONCE
