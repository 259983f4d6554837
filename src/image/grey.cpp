#include "sdm/image/grey.h"

#include "base/simd.h"
#include "image/checks.h"
#include "image/scalar.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/grey.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sdm::image::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using W = hn::CappedTag<std::uint16_t, 16>;
using B = hn::Rebind<std::uint8_t, W>;

void luma(hn::Vec<B> red, hn::Vec<B> green, hn::Vec<B> blue, std::uint8_t* out) {
  auto weighted = [](hn::Vec<B> v, int weight) HWY_ATTR {
    return hn::Mul(hn::PromoteTo(W(), v), hn::Set(W(), std::uint16_t(weight)));
  };
  const auto sum = hn::Add(hn::Add(weighted(red, 77), weighted(green, 150)),
                           hn::Add(weighted(blue, 29), hn::Set(W(), 128)));
  // Signed, as the narrowing wants it; the values fit.
  const auto grey = hn::BitCast(hn::RebindToSigned<W>(), hn::ShiftRight<8>(sum));
  hn::StoreU(hn::DemoteTo(B(), grey), B(), out);
}

#if HWY_TARGET != HWY_SCALAR
// Pixels of four bytes, as the halves of the halves of 32-bit numbers. Gives the columns done.
int grey_of_four(const std::uint8_t* row, int width, bool red_first, std::uint8_t* out) {
  const hn::CappedTag<std::uint32_t, 16> pixel;
  const hn::Repartition<std::uint16_t, decltype(pixel)> half;
  const hn::RebindToSigned<decltype(pixel)> narrowable;
  const hn::Rebind<std::uint8_t, decltype(pixel)> bytes;
  const int lanes = int(hn::Lanes(pixel));
  const auto weights = [&](std::uint32_t low, std::uint32_t high)
                           HWY_ATTR { return hn::BitCast(half, hn::Set(pixel, high << 16 | low)); };
  const auto outer = red_first ? weights(77, 29) : weights(29, 77), inner = weights(150, 0);
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto v =
        hn::BitCast(half, hn::LoadU(hn::Repartition<std::uint8_t, decltype(pixel)>(), row + 4 * x));
    const auto sums = hn::BitCast(pixel, hn::Add(hn::Mul(hn::And(v, hn::Set(half, 255)), outer),
                                                 hn::Mul(hn::ShiftRight<8>(v), inner)));
    const auto sum =
        hn::Add(hn::Add(hn::And(sums, hn::Set(pixel, 65535)), hn::ShiftRight<16>(sums)),
                hn::Set(pixel, 128));
    hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(narrowable, hn::ShiftRight<8>(sum))), bytes,
               out + x);
  }
  return x;
}
#else
int grey_of_four(const std::uint8_t*, int, bool, std::uint8_t*) { return 0; }
#endif

void grey_of_bytes(const ColourView<std::uint8_t>& src, ImageView<std::uint8_t> dst) {
  const int lanes = int(hn::Lanes(B()));
  const bool red_first = src.layout == Layout::rgb || src.layout == Layout::rgba;
  int x = 0;
  for (int y = 0; y < dst.height; ++y) {
    const std::uint8_t* row = src.data + y * src.stride;
    if (src.channels() == 4) {
      x = grey_of_four(row, dst.width, red_first, dst.row(y));
      continue;
    }
    for (x = 0; x + lanes <= dst.width; x += lanes) {
      hn::Vec<B> first, green, third;
      hn::LoadInterleaved3(B(), row + 3 * x, first, green, third);
      luma(red_first ? first : third, green, red_first ? third : first, dst.row(y) + x);
    }
  }
  // The columns that fill no vector.
  const int c = src.channels();
  scalar::to_grey(
      ColourView<std::uint8_t>{src.data + c * x, dst.width - x, dst.height, src.stride, src.layout},
      ImageView<std::uint8_t>(dst.data + x, dst.width - x, dst.height, dst.stride));
}

}  // namespace
}  // namespace sdm::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::image {
namespace {
HWY_EXPORT(grey_of_bytes);
}  // namespace

void to_grey(const ColourView<std::uint8_t>& src, ImageView<std::uint8_t> dst) {
  checks::same_size(src.width, src.height, dst.width, dst.height);
  HWY_DYNAMIC_DISPATCH(grey_of_bytes)(src, dst);
}

// 16-bit pictures come from files, not from cameras: the plain code is fast enough.
void to_grey(const ColourView<std::uint16_t>& src, ImageView<std::uint8_t> dst) {
  scalar::to_grey(src, dst);
}
void to_grey(ImageView<const std::uint16_t> src, ImageView<std::uint8_t> dst) {
  scalar::to_grey(src, dst);
}

}  // namespace sdm::image
#endif  // HWY_ONCE
