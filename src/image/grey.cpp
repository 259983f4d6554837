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

void grey_of_bytes(const ColourView<std::uint8_t>& src, ImageView<std::uint8_t> dst) {
  const int lanes = int(hn::Lanes(B()));
  const bool red_first = src.layout == Layout::rgb || src.layout == Layout::rgba;
  int x = 0;
  for (int y = 0; y < dst.height; ++y) {
    const std::uint8_t* row = src.data + y * src.stride;
    for (x = 0; x + lanes <= dst.width; x += lanes) {
      hn::Vec<B> first, green, third, alpha;
      if (src.channels() == 3) {
        hn::LoadInterleaved3(B(), row + 3 * x, first, green, third);
      } else {
        hn::LoadInterleaved4(B(), row + 4 * x, first, green, third, alpha);
      }
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
