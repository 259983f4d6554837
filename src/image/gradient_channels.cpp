#include "sdm/image/gradient_channels.h"

#include <cstring>

#include "base/formatted.h"
#include "base/simd.h"
#include "sdm/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/gradient_channels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "image/gradients-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sdm::image::HWY_NAMESPACE {
namespace {

using F = hn::ScalableTag<float>;
using F8 = hn::CappedTag<float, kBins>;
using I8 = hn::RebindToSigned<F8>;

// votes = max(0, min(left, right)), both linear in the gradient: left[k] = gx LX[k] + gy LY[k].
// The factor turns a difference of two neighbours into 1/256 grey levels per pixel.
constexpr float kOne = 128;
constexpr float kRoot = 128 * 1.41421356237f;
HWY_ALIGN constexpr float kLeftX[kBins] = {kOne, kRoot, -kOne, -kRoot, -kOne, -kRoot, -kOne, kRoot};
HWY_ALIGN constexpr float kLeftY[kBins] = {-kOne, 0, kOne, 0, -kOne, 0, -kOne, 0};
HWY_ALIGN constexpr float kRightX[kBins] = {kOne, 0, kOne, 0, -kOne, 0, kOne, 0};
HWY_ALIGN constexpr float kRightY[kBins] = {kOne, kRoot, kOne, kRoot, kOne, -kRoot, -kOne, -kRoot};

// At 1.5 x 2^23 a float has no room for a fraction: adding it rounds, and leaves the whole number
// in the low bits. The multiply-add carries it for nothing, where a conversion costs several
// instructions.
constexpr float kRounder = 12582912;

// One row of the integral image from the gradients of one row of pixels; `first` bin of those that
// a vector holds (all eight, where vectors are wide enough).
void integrate(const float* gx, const float* gy, int count, int first, const Votes* above,
               Votes* below) {
  const auto left_x = hn::Load(F8(), kLeftX + first), left_y = hn::Load(F8(), kLeftY + first);
  const auto right_x = hn::Load(F8(), kRightX + first), right_y = hn::Load(F8(), kRightY + first);
  const auto rounder = hn::Set(F8(), kRounder);
  auto sum = hn::Sub(hn::Load(I8(), below->bin + first), hn::Load(I8(), above->bin + first));
  for (int x = 0; x < count; ++x) {
    const auto dx = hn::Set(F8(), gx[x]), dy = hn::Set(F8(), gy[x]);
    const auto left = hn::MulAdd(dx, left_x, hn::MulAdd(dy, left_y, rounder));
    const auto right = hn::MulAdd(dx, right_x, hn::MulAdd(dy, right_y, rounder));
    const auto votes = hn::Max(hn::Min(left, right), rounder);
    sum = hn::Add(sum, hn::Sub(hn::BitCast(I8(), votes), hn::BitCast(I8(), rounder)));
    hn::Store(hn::Add(sum, hn::Load(I8(), above[x + 1].bin + first)), I8(),
              below[x + 1].bin + first);
  }
}

template <class T>
void channels_of(ImageView<const T> src, GradientChannels& channels) {
  const int lanes = int(hn::Lanes(F()));
  HWY_ALIGN PaddedRow rows[3];
  HWY_ALIGN float gx[kStripe + kPad], gy[kStripe + kPad];
  for (int x = 0; x < src.width; x += kStripe) {
    const int count = std::min(kStripe, src.width - x);
    std::memset(rows, 0, sizeof(rows));
    load_row(src, x, -1, count, rows[2]);
    load_row(src, x, 0, count, rows[0]);
    for (int y = 0; y < src.height; ++y) {
      const float *up = rows[(y + 2) % 3], *here = rows[y % 3], *down = rows[(y + 1) % 3];
      load_row(src, x, y + 1, count, rows[(y + 1) % 3]);
      for (int i = 0; i < count; i += lanes) {
        hn::Store(hn::Sub(hn::LoadU(F(), here + i + 2), hn::LoadU(F(), here + i)), F(), gx + i);
        hn::Store(hn::Sub(hn::LoadU(F(), down + i + 1), hn::LoadU(F(), up + i + 1)), F(), gy + i);
      }
      for (int bin = 0; bin < kBins; bin += int(hn::Lanes(F8()))) {
        integrate(gx, gy, count, bin, channels.row(y) + x, channels.row(y + 1) + x);
      }
    }
  }
}

void channels_of_float(FloatView src, GradientChannels& channels) { channels_of(src, channels); }
void channels_of_byte(ByteView src, GradientChannels& channels) { channels_of(src, channels); }

}  // namespace
}  // namespace sdm::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::image {
namespace {
HWY_EXPORT(channels_of_float);
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
void gradient_channels(ByteView src, GradientChannels& channels) {
  channels.reset(src.width, src.height);
  HWY_DYNAMIC_DISPATCH(channels_of_byte)(src, channels);
}

}  // namespace sdm::image
#endif  // HWY_ONCE
