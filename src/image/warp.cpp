#include "sdm/image/warp.h"

#include <cstdlib>

#include "base/simd.h"
#include "image/checks.h"
#include "image/sample.h"
#include "image/scalar.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/warp.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sdm::image::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using F = hn::ScalableTag<float>;
using I = hn::RebindToSigned<F>;
using U = hn::RebindToUnsigned<F>;
using VF = hn::Vec<F>;
using VI = hn::Vec<I>;

VF lerp(VF a, VF b, VF t) { return hn::MulAdd(t, hn::Sub(b, a), a); }

// NaN becomes 0.
VF clamp(VF v, VF high) {
  const VF zero = hn::Zero(F());
  return hn::IfThenElse(hn::Gt(v, zero), hn::Min(v, high), zero);
}

// Samples one vector of points with replicated borders.
template <class S>
class Sampler {
 public:
  // Bytes are fetched four at a time, so that two gathers serve the four neighbours.
  static constexpr int kMinWidth = sizeof(S) == 1 ? 4 : 2;

  explicit Sampler(ImageView<const S> src)
      : src_(src),
        right_(hn::Set(F(), float(src.width - 1))),
        bottom_(hn::Set(F(), float(src.height - 1))),
        stride_(hn::Set(I(), int(src.stride))),
        last_x_(hn::Set(I(), src.width - 2)),
        last_y_(hn::Set(I(), src.height - 2)),
        last_fetch_(hn::Set(I(), src.width - kMinWidth)) {}

  bool inside(VF x, VF y) const {
    const VF zero = hn::Zero(F());
    return hn::AllTrue(F(), hn::And(hn::And(hn::Ge(x, zero), hn::Le(x, right_)),
                                    hn::And(hn::Ge(y, zero), hn::Le(y, bottom_))));
  }

  VF operator()(VF x, VF y) const {
    x = clamp(x, right_);
    y = clamp(y, bottom_);
    const VI x0 = hn::Min(hn::ConvertTo(I(), x), last_x_);
    const VI y0 = hn::Min(hn::ConvertTo(I(), y), last_y_);
    const VF fx = hn::Sub(x, hn::ConvertTo(F(), x0)), fy = hn::Sub(y, hn::ConvertTo(F(), y0));
    const VI row = hn::Mul(y0, stride_);
    VF a, b, c, d;
    if constexpr (sizeof(S) == 1) {
      // Near the right edge the four bytes start further left and are shifted into place.
      const VI fetch = hn::Min(x0, last_fetch_);
      const auto shift = hn::BitCast(U(), hn::ShiftLeft<3>(hn::Sub(x0, fetch)));
      const VI at = hn::Add(row, fetch);
      auto pair = [&](const S* base, VF& left, VF& right) HWY_ATTR {
        const auto bytes = hn::BitCast(
            U(), hn::GatherOffset(I(), reinterpret_cast<const std::int32_t*>(base), at));
        const auto word = hn::Shr(bytes, shift);
        const auto mask = hn::Set(U(), 255);
        left = hn::ConvertTo(F(), hn::BitCast(I(), hn::And(word, mask)));
        right = hn::ConvertTo(F(), hn::BitCast(I(), hn::And(hn::ShiftRight<8>(word), mask)));
      };
      pair(src_.data, a, b);
      pair(src_.data + src_.stride, c, d);
    } else {
      const VI at = hn::Add(row, x0);
      a = hn::GatherIndex(F(), src_.data, at);
      b = hn::GatherIndex(F(), src_.data + 1, at);
      c = hn::GatherIndex(F(), src_.data + src_.stride, at);
      d = hn::GatherIndex(F(), src_.data + src_.stride + 1, at);
    }
    return lerp(lerp(a, b, fx), lerp(c, d, fx), fy);
  }

 private:
  ImageView<const S> src_;
  VF right_, bottom_;
  VI stride_, last_x_, last_y_, last_fetch_;
};

void store_vector(VF v, float* out) { hn::StoreU(v, F(), out); }
void store_vector(VF v, std::uint8_t* out) {
  const hn::Rebind<std::uint8_t, F> bytes;
  hn::StoreU(hn::DemoteTo(bytes, hn::NearestInt(v)), bytes, out);
}

template <bool kProjective, class S, class D>
void warp(ImageView<const S> src, const ProjectiveMap& map, ImageView<D> dst, Border border) {
  const Sampler<S> sampler(src);
  const int lanes = int(hn::Lanes(F()));
  const VF iota = hn::Iota(F(), 0);
  const VF dx = hn::Set(F(), float(map(0, 0))), dy = hn::Set(F(), float(map(1, 0)));
  const VF dz = hn::Set(F(), float(map(2, 0)));
  for (int v = 0; v < dst.height; ++v) {
    const VF x_start = hn::Set(F(), float(map(0, 1) * v + map(0, 2)));
    const VF y_start = hn::Set(F(), float(map(1, 1) * v + map(1, 2)));
    const VF z_start = hn::Set(F(), float(map(2, 1) * v + map(2, 2)));
    for (int i = 0; i < dst.width; i += lanes) {
      // The last vector ends with the row and repeats some of the one before.
      const int u = std::min(i, dst.width - lanes);
      const VF column = hn::Add(iota, hn::Set(F(), float(u)));
      VF x = hn::MulAdd(column, dx, x_start), y = hn::MulAdd(column, dy, y_start);
      if constexpr (kProjective) {
        const VF z = hn::MulAdd(column, dz, z_start);
        x = hn::Div(x, z);
        y = hn::Div(y, z);
      }
      if (!border.is_constant || sampler.inside(x, y)) {
        store_vector(sampler(x, y), dst.row(v) + u);
      } else {
        HWY_ALIGN float xs[hn::MaxLanes(F())], ys[hn::MaxLanes(F())];
        hn::Store(x, F(), xs);
        hn::Store(y, F(), ys);
        for (int j = 0; j < lanes; ++j) store(sample(src, xs[j], ys[j], border), dst(u + j, v));
      }
    }
  }
}

template <class S, class D>
void warp(ImageView<const S> src, const ProjectiveMap& map, bool projective, ImageView<D> dst,
          Border border) {
  const bool too_small =
      src.width < Sampler<S>::kMinWidth || src.height < 2 || dst.width < int(hn::Lanes(F()));
  // Offsets are 32-bit.
  const bool too_far = double(std::abs(src.stride)) * src.height > 2147483647.0;
  if (too_small || too_far) {
    projective ? scalar::warp_projective(src, map, dst, border)
               : scalar::warp_affine(src, map.topRows<2>(), dst, border);
  } else {
    projective ? warp<true>(src, map, dst, border) : warp<false>(src, map, dst, border);
  }
}

void warp_byte_float(ByteView src, const ProjectiveMap& map, bool projective, ImageView<float> dst,
                     Border border) {
  warp(src, map, projective, dst, border);
}
void warp_byte_byte(ByteView src, const ProjectiveMap& map, bool projective,
                    ImageView<std::uint8_t> dst, Border border) {
  warp(src, map, projective, dst, border);
}
void warp_float_float(FloatView src, const ProjectiveMap& map, bool projective,
                      ImageView<float> dst, Border border) {
  warp(src, map, projective, dst, border);
}

}  // namespace
}  // namespace sdm::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::image {
namespace {

HWY_EXPORT(warp_byte_float);
HWY_EXPORT(warp_byte_byte);
HWY_EXPORT(warp_float_float);

void dispatch(ByteView src, const ProjectiveMap& map, bool projective, ImageView<float> dst,
              Border border) {
  HWY_DYNAMIC_DISPATCH(warp_byte_float)(src, map, projective, dst, border);
}
void dispatch(ByteView src, const ProjectiveMap& map, bool projective, ImageView<std::uint8_t> dst,
              Border border) {
  HWY_DYNAMIC_DISPATCH(warp_byte_byte)(src, map, projective, dst, border);
}
void dispatch(FloatView src, const ProjectiveMap& map, bool projective, ImageView<float> dst,
              Border border) {
  HWY_DYNAMIC_DISPATCH(warp_float_float)(src, map, projective, dst, border);
}

template <class S, class D>
void affine(ImageView<const S> src, const AffineMap& map, ImageView<D> dst, Border border) {
  checks::source(src.width, src.height);
  checks::map({map.data(), 6});
  ProjectiveMap full = ProjectiveMap::Identity();
  full.topRows<2>() = map;
  dispatch(src, full, false, dst, border);
}

template <class S, class D>
void projective(ImageView<const S> src, const ProjectiveMap& map, ImageView<D> dst, Border border) {
  checks::source(src.width, src.height);
  checks::map({map.data(), 9});
  dispatch(src, map, true, dst, border);
}

}  // namespace

void warp_affine(ByteView src, const AffineMap& map, ImageView<float> dst, Border border) {
  affine(src, map, dst, border);
}
void warp_affine(ByteView src, const AffineMap& map, ImageView<std::uint8_t> dst, Border border) {
  affine(src, map, dst, border);
}
void warp_affine(FloatView src, const AffineMap& map, ImageView<float> dst, Border border) {
  affine(src, map, dst, border);
}
void warp_projective(ByteView src, const ProjectiveMap& map, ImageView<float> dst, Border border) {
  projective(src, map, dst, border);
}
void warp_projective(ByteView src, const ProjectiveMap& map, ImageView<std::uint8_t> dst,
                     Border border) {
  projective(src, map, dst, border);
}
void warp_projective(FloatView src, const ProjectiveMap& map, ImageView<float> dst, Border border) {
  projective(src, map, dst, border);
}

}  // namespace sdm::image
#endif  // HWY_ONCE
