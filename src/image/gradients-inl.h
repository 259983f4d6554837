// Rows of pixels as the gradient kernels want them; included once for every target.
#if defined(SDM_IMAGE_GRADIENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SDM_IMAGE_GRADIENTS_INL_H_
#undef SDM_IMAGE_GRADIENTS_INL_H_
#else
#define SDM_IMAGE_GRADIENTS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "sdm/image/image_view.h"

HWY_BEFORE_NAMESPACE();
namespace sdm::image::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The kernels go over the picture in stripes of at most this many columns, so that their rows stay
// in a fixed buffer however wide the picture is. A kernel may read kPad floats past the columns.
constexpr int kStripe = 192;
constexpr int kPad = 16;
using PaddedRow = float[1 + kStripe + 1 + kPad];

inline hn::Vec<hn::ScalableTag<float>> load_pixels(const float* p) {
  return hn::LoadU(hn::ScalableTag<float>(), p);
}
inline hn::Vec<hn::ScalableTag<float>> load_pixels(const std::uint8_t* p) {
  const hn::ScalableTag<float> f;
  const hn::RebindToSigned<decltype(f)> i;
  const hn::Rebind<std::uint8_t, decltype(f)> b;
  return hn::ConvertTo(f, hn::PromoteTo(i, hn::LoadU(b, p)));
}

// out[1 + i] = pixel (x + i, y), -1 <= i <= count, replicated beyond the borders of the picture.
template <class T>
void load_row(ImageView<const T> src, int x, int y, int count, PaddedRow& out) {
  const T* row = src.row(std::clamp(y, 0, src.height - 1));
  const int lanes = int(hn::Lanes(hn::ScalableTag<float>()));
  out[0] = float(row[std::max(x - 1, 0)]);
  if (count < lanes) {
    for (int i = 0; i < count; ++i) out[1 + i] = float(row[x + i]);
  }
  for (int i = 0; i < count && count >= lanes; i += lanes) {
    // The last vector ends with the columns and repeats some of the one before.
    const int at = std::min(i, count - lanes);
    hn::StoreU(load_pixels(row + x + at), hn::ScalableTag<float>(), out + 1 + at);
  }
  out[1 + count] = float(row[std::min(x + count, src.width - 1)]);
}

}  // namespace
}  // namespace sdm::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
