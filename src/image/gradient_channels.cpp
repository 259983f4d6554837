#include "sdm/image/gradient_channels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/formatted.h"
#include "base/simd.h"
#include "image/scalar.h"
#include "sdm/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/gradient_channels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sdm::image::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR
template <class T>
void channels_of(ImageView<const T> src, GradientChannels& channels) {
  scalar::gradient_channels(src, channels);
}
#else
namespace hn = hwy::HWY_NAMESPACE;
using I16 = hn::ScalableTag<std::int16_t>;
using V = hn::Vec<I16>;
using Wide = hn::ScalableTag<float>;
using I8 = hn::CappedTag<std::int32_t, kBins>;

// The picture is gone over in stripes of at most this many columns, so that rows stay in a fixed
// buffer however wide it is. A kernel may touch kPad values past the columns.
constexpr int kStripe = 192;
constexpr int kPad = 64;
using Row = std::int16_t[1 + kStripe + 1 + kPad];

constexpr int kPixel = kPixelParts;
std::int16_t rounded(float v) {
  return std::int16_t(std::lrintf(std::clamp(kPixel * v, -32768.F, 32767.F)));
}
std::int16_t rounded(std::uint8_t v) { return std::int16_t(kPixel * v); }
void load(const float* p, std::int16_t* out) {
  const hn::Rebind<std::int16_t, Wide> narrow;
  // At 1.5 x 2^23 a float has no room for a fraction: adding it rounds, and leaves the whole number
  // in the low bits, where a conversion takes several instructions.
  const auto rounder = hn::Set(Wide(), 12582912.F);
  const hn::RebindToSigned<Wide> whole;
  const auto sum = hn::MulAdd(hn::LoadU(Wide(), p), hn::Set(Wide(), float(kPixel)), rounder);
  const auto v = hn::Sub(hn::BitCast(whole, sum), hn::BitCast(whole, rounder));
  hn::StoreU(hn::DemoteTo(narrow, v), narrow, out);
}
void load(const std::uint8_t* p, std::int16_t* out) {
  const hn::Rebind<std::int16_t, Wide> narrow;
  const hn::Rebind<std::uint8_t, Wide> bytes;
  hn::StoreU(hn::Mul(hn::PromoteTo(narrow, hn::LoadU(bytes, p)), hn::Set(narrow, kPixel)), narrow,
             out);
}

// out[1 + i] = pixel (x + i, y), -1 <= i <= count, replicated beyond the borders of the picture.
template <class T>
void load_row(ImageView<const T> src, int x, int y, int count, Row& out) {
  const T* row = src.row(std::clamp(y, 0, src.height - 1));
  const int lanes = int(hn::Lanes(Wide()));
  out[0] = rounded(row[std::max(x - 1, 0)]);
  if (count < lanes) {
    for (int i = 0; i < count; ++i) out[1 + i] = rounded(row[x + i]);
  }
  for (int i = 0; i < count && count >= lanes; i += lanes) {
    // The last vector ends with the columns and repeats some of the one before.
    const int at = std::min(i, count - lanes);
    load(row + x + at, out + 1 + at);
  }
  out[1 + count] = rounded(row[std::min(x + count, src.width - 1)]);
}

void load_row(PartsView src, int x, int y, int count, Row& out) {
  const std::int16_t* row = src.row(std::clamp(y, 0, src.height - 1));
  out[0] = row[std::max(x - 1, 0)];
  std::memcpy(out + 1, row + x, std::size_t(count) * sizeof(*row));
  out[1 + count] = row[std::min(x + count, src.width - 1)];
}

// a and b become what interleaving their lanes gives, first half and second half of each block.
void interleave(V& a, V& b) {
  const V low = hn::InterleaveLower(I16(), a, b);
  b = hn::InterleaveUpper(I16(), a, b);
  a = low;
}

// The votes of a vector of pixels, all eight of one pixel side by side: those of pixel 8 j + i of
// the vector are block j of out's i-th vector.
void vote(V gx, V gy, std::uint16_t* out) {
  const V zero = hn::Zero(I16());
  const V right = hn::Max(gx, zero), down = hn::Max(gy, zero);
  const V left = hn::Sub(right, gx), up = hn::Sub(down, gy);
  // The straight votes carry the longer side's surplus, the slanted ones what the sides share.
  const V surplus = hn::Sub(hn::Add(right, left), hn::Add(down, up));
  const V wide = hn::Max(surplus, zero), tall = hn::Sub(wide, surplus);
  const auto slanted = [&](V a, V b) HWY_ATTR {
    const V shared = hn::Min(a, b);
    return hn::Add(shared, hn::MulFixedPoint15(shared, hn::Set(I16(), scalar::kRootLess1)));
  };
  V v0 = hn::Min(wide, right), v1 = slanted(right, down), v2 = hn::Min(tall, down);
  V v3 = slanted(left, down), v4 = hn::Min(wide, left), v5 = slanted(left, up);
  V v6 = hn::Min(tall, up), v7 = slanted(right, up);
  interleave(v0, v4);
  interleave(v1, v5);
  interleave(v2, v6);
  interleave(v3, v7);
  interleave(v0, v2);
  interleave(v1, v3);
  interleave(v4, v6);
  interleave(v5, v7);
  interleave(v0, v1);
  interleave(v2, v3);
  interleave(v4, v5);
  interleave(v6, v7);
  const V votes[kBins] = {v0, v1, v2, v3, v4, v5, v6, v7};
  const hn::RebindToUnsigned<I16> unsigned16;
  for (int i = 0; i < kBins; ++i)
    hn::Store(hn::BitCast(unsigned16, votes[i]), unsigned16,
              out + std::size_t(i) * hn::Lanes(I16()));
}

// One row of the integral image from the votes of one row of pixels; `first` bin of those that a
// vector holds (all eight, where vectors are wide enough).
void integrate(const std::uint16_t* votes, int count, int first, const Votes* above, Votes* below) {
  const hn::Rebind<std::uint16_t, I8> words;
  const int blocks = int(hn::Lanes(I16())) / kBins;
  auto sum = hn::Sub(hn::Load(I8(), below->bin + first), hn::Load(I8(), above->bin + first));
  for (int x = 0; x < count; votes += kBins * kBins * blocks) {
    for (int j = 0; j < blocks && x < count; ++j) {
      const int end = std::min(x + kBins, count);
      for (const std::uint16_t* at = votes + j * kBins + first; x < end; at += kBins * blocks) {
        sum = hn::Add(sum, hn::PromoteTo(I8(), hn::Load(words, at)));
        ++x;
        hn::Store(hn::Add(sum, hn::Load(I8(), above[x].bin + first)), I8(), below[x].bin + first);
      }
    }
  }
}

template <class T>
void channels_of(ImageView<const T> src, GradientChannels& channels) {
  const int lanes = int(hn::Lanes(I16()));
  Row rows[3];
  HWY_ALIGN std::uint16_t votes[(kStripe + kPad) * kBins];
  for (int x = 0; x < src.width; x += kStripe) {
    const int count = std::min(kStripe, src.width - x);
    std::memset(rows, 0, sizeof(rows));
    load_row(src, x, -1, count, rows[2]);
    load_row(src, x, 0, count, rows[0]);
    for (int y = 0; y < src.height; ++y) {
      const std::int16_t *up = rows[(y + 2) % 3], *here = rows[y % 3], *down = rows[(y + 1) % 3];
      load_row(src, x, y + 1, count, rows[(y + 1) % 3]);
      for (int i = 0; i < count; i += lanes) {
        const V gx = hn::Sub(hn::LoadU(I16(), here + i + 2), hn::LoadU(I16(), here + i));
        const V gy = hn::Sub(hn::LoadU(I16(), down + i + 1), hn::LoadU(I16(), up + i + 1));
        vote(gx, gy, votes + i * kBins);
      }
      for (int bin = 0; bin < kBins; bin += int(hn::Lanes(I8())))
        integrate(votes, count, bin, channels.row(y) + x, channels.row(y + 1) + x);
    }
  }
}
#endif

void channels_of_float(FloatView src, GradientChannels& channels) { channels_of(src, channels); }
void channels_of_parts(PartsView src, GradientChannels& channels) { channels_of(src, channels); }
void channels_of_byte(ByteView src, GradientChannels& channels) { channels_of(src, channels); }

}  // namespace
}  // namespace sdm::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::image {
namespace {
HWY_EXPORT(channels_of_float);
HWY_EXPORT(channels_of_parts);
HWY_EXPORT(channels_of_byte);
}  // namespace

GradientChannels::GradientChannels(int max_width, int max_height) {
  if (max_width < 1 || max_height < 1) {
    throw Error(formatted("room for gradient channels is {} x {}, expected at least 1 x 1",
                          max_width, max_height));
  }
  votes_.resize(std::size_t(max_width + 1) * std::size_t(max_height + 1));
}

void GradientChannels::reset(int width, int height) {
  const bool fits = width > 0 && height > 0 &&
                    (std::size_t(width) + 1) * (std::size_t(height) + 1) <= votes_.size();
  if (!fits) {
    throw Error(
        formatted("picture is {} x {}, expected at least 1 x 1 and no more pixels than "
                  "the gradient channels have room for",
                  width, height));
  }
  width_ = width;
  height_ = height;
  std::fill_n(row(0), stride(), Votes{});
  for (int y = 1; y <= height; ++y) *row(y) = Votes{};
}

void gradient_channels(FloatView src, GradientChannels& channels) {
  channels.reset(src.width, src.height);
  HWY_DYNAMIC_DISPATCH(channels_of_float)(src, channels);
}
void gradient_channels(PartsView src, GradientChannels& channels) {
  channels.reset(src.width, src.height);
  HWY_DYNAMIC_DISPATCH(channels_of_parts)(src, channels);
}
void gradient_channels(ByteView src, GradientChannels& channels) {
  channels.reset(src.width, src.height);
  HWY_DYNAMIC_DISPATCH(channels_of_byte)(src, channels);
}

}  // namespace sdm::image
#endif  // HWY_ONCE
