#include "sdm/image/warp.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <type_traits>

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
using VF = hn::Vec<F>;
using VI = hn::Vec<I>;

// At 1.5 x 2^23 a float has no room for a fraction: adding it rounds, and leaves the whole number
// in the low bits, where a conversion takes several instructions.
constexpr float kRounder = 12582912;

VF lerp(VF a, VF b, VF t) { return hn::MulAdd(t, hn::Sub(b, a), a); }

// NaN becomes 0.
VF clamp(VF v, VF high) {
  const VF zero = hn::Zero(F());
  return hn::IfThenElse(hn::Gt(v, zero), hn::Min(v, high), zero);
}

// A row of samples with replicated borders, in three passes: where each lies, its neighbours, and
// what is between them. The neighbours come by plain loads: a gather takes longer than the loads of
// its lanes on many processors, and reading back what was just stored waits for the store.
template <class S>
class Sampler {
 public:
  static constexpr int kMost = 256;  // samples of a row at once

  // Its rows are written before they are read.
  // cppcheck-suppress uninitMemberVar
  explicit Sampler(ImageView<const S> src)
      : src_(src),
        right_(hn::Set(F(), float(src.width - 1))),
        bottom_(hn::Set(F(), float(src.height - 1))),
        last_x_(hn::Set(F(), kRounder + float(src.width - 2))),
        last_y_(hn::Set(F(), kRounder + float(src.height - 2))),
        stride_(hn::Set(I(), int(src.stride))) {}

  bool inside(VF x, VF y) const {
    const VF zero = hn::Zero(F());
    return hn::AllTrue(F(), hn::And(hn::And(hn::Ge(x, zero), hn::Le(x, right_)),
                                    hn::And(hn::Ge(y, zero), hn::Le(y, bottom_))));
  }

  // The vector of samples from the i-th on; kInside: known to lie in the picture.
  template <bool kInside>
  void place(int i, VF x, VF y) {
    if constexpr (!kInside) {
      x = clamp(x, right_);
      y = clamp(y, bottom_);
    }
    const VF left = hn::Min(before(x), last_x_), top = hn::Min(before(y), last_y_);
    hn::StoreU(hn::Sub(x, hn::Sub(left, rounder())), F(), part_x_ + i);
    hn::StoreU(hn::Sub(y, hn::Sub(top, rounder())), F(), part_y_ + i);
    const VI x0 = whole(left), y0 = whole(top);
    hn::StoreU(hn::Add(hn::Mul(y0, stride_), x0), I(), offset_ + i);
  }

  void fetch(int count) {
    const S *upper = src_.data, *lower = src_.data + src_.stride;
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) {
      quads_[i] = quad(upper + offset_[i], lower + offset_[i]);
    }
  }

  VF at(int i) const {
    VF a, b, c, d;
    split(quads_ + i, a, b, c, d);
    const VF fx = hn::LoadU(F(), part_x_ + i), fy = hn::LoadU(F(), part_y_ + i);
    return lerp(lerp(a, b, fx), lerp(c, d, fx), fy);
  }

 private:
  static VF rounder() { return hn::Set(F(), kRounder); }
  // The pixel before, kRounder added; for a whole number it or the one before, which interpolate
  // alike.
  static VF before(VF v) { return hn::Add(hn::Sub(v, hn::Set(F(), 0.5f)), rounder()); }
  static VI whole(VF rounded) {
    return hn::Sub(hn::BitCast(I(), rounded), hn::BitCast(I(), rounder()));
  }

  // Two neighbours of a row and the two below; bytes as the quarters of one number.
  using Quad = std::conditional_t<sizeof(S) == 1, std::uint32_t, std::array<float, 4>>;

  static std::uint32_t quad(const std::uint8_t* upper, const std::uint8_t* lower) {
    std::uint16_t a, b;
    std::memcpy(&a, upper, 2);
    std::memcpy(&b, lower, 2);
    return a | std::uint32_t(b) << 16;
  }
  static std::array<float, 4> quad(const float* upper, const float* lower) {
    return {upper[0], upper[1], lower[0], lower[1]};
  }
  static void split(const std::uint32_t* quads, VF& a, VF& b, VF& c, VF& d) {
    const hn::RebindToUnsigned<F> wide;
    const auto v = hn::LoadU(wide, quads), byte = hn::Set(wide, 255);
    const auto number = [](auto bits)
                            HWY_ATTR { return hn::ConvertTo(F(), hn::BitCast(I(), bits)); };
    a = number(hn::And(v, byte));
    b = number(hn::And(hn::ShiftRight<8>(v), byte));
    c = number(hn::And(hn::ShiftRight<16>(v), byte));
    d = number(hn::ShiftRight<24>(v));
  }
  static void split(const std::array<float, 4>* quads, VF& a, VF& b, VF& c, VF& d) {
    hn::LoadInterleaved4(F(), quads->data(), a, b, c, d);
  }

  ImageView<const S> src_;
  VF right_, bottom_, last_x_, last_y_;
  VI stride_;
  float part_x_[kMost], part_y_[kMost];
  std::int32_t offset_[kMost];
  Quad quads_[kMost];
};

void store_vector(VF v, std::int16_t* out) {
  const hn::Rebind<std::int16_t, F> parts;
  const VF rounder = hn::Set(F(), kRounder);
  const VF sum = hn::MulAdd(v, hn::Set(F(), float(kPixelParts)), rounder);
  const VI whole = hn::Sub(hn::BitCast(I(), sum), hn::BitCast(I(), rounder));
  hn::StoreU(hn::DemoteTo(parts, whole), parts, out);
}
void store_vector(VF v, float* out) { hn::StoreU(v, F(), out); }
void store_vector(VF v, std::uint8_t* out) {
  const hn::Rebind<std::uint8_t, F> bytes;
  hn::StoreU(hn::DemoteTo(bytes, hn::NearestInt(v)), bytes, out);
}

template <bool kProjective, class S, class D>
void warp(ImageView<const S> src, const ProjectiveMap& map, ImageView<D> dst, Border border) {
  Sampler<S> sampler(src);
  const int lanes = int(hn::Lanes(F()));
  const VF iota = hn::Iota(F(), 0);
  const VF dx = hn::Set(F(), float(map(0, 0))), dy = hn::Set(F(), float(map(1, 0)));
  const VF dz = hn::Set(F(), float(map(2, 0)));
  for (int v = 0; v < dst.height; ++v) {
    const VF x_start = hn::Set(F(), float(map(0, 1) * v + map(0, 2)));
    const VF y_start = hn::Set(F(), float(map(1, 1) * v + map(1, 2)));
    const VF z_start = hn::Set(F(), float(map(2, 1) * v + map(2, 2)));
    const auto locate = [&](int u, VF& x, VF& y) HWY_ATTR {
      const VF column = hn::Add(iota, hn::Set(F(), float(u)));
      x = hn::MulAdd(column, dx, x_start);
      y = hn::MulAdd(column, dy, y_start);
      if constexpr (kProjective) {
        const VF z = hn::MulAdd(column, dz, z_start);
        x = hn::Div(x, z);
        y = hn::Div(y, z);
      }
    };
    for (int first = 0; first < dst.width; first += Sampler<S>::kMost) {
      // The last vector of a row ends with it and repeats some of the one before.
      const int count = std::min(Sampler<S>::kMost, dst.width - first);
      const int start = std::min(first, dst.width - lanes), end = first + count;
      const auto vector_at = [&](int i) { return std::min(start + i, end - lanes); };
      VF x, y;
      const auto place = [&](auto inside) HWY_ATTR {
        for (int i = 0; start + i < end; i += lanes) {
          const int u = vector_at(i);
          locate(u, x, y);
          sampler.template place<decltype(inside)::value>(u - start, x, y);
        }
      };
      // What an affine map shows between two places inside the picture is inside.
      const auto shows_inside = [&](int u) HWY_ATTR {
        locate(u, x, y);
        return sampler.inside(x, y);
      };
      if (!kProjective && shows_inside(start) && shows_inside(end - lanes))
        place(std::true_type());
      else
        place(std::false_type());
      sampler.fetch(end - start);
      for (int i = 0; start + i < end; i += lanes) {
        const int u = vector_at(i);
        store_vector(sampler.at(u - start), dst.row(v) + u);
      }
      if (!border.is_constant) continue;
      for (int i = 0; start + i < end; i += lanes) {
        const int u = vector_at(i);
        locate(u, x, y);
        if (sampler.inside(x, y)) continue;
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
  const bool too_small = src.width < 2 || src.height < 2 || dst.width < int(hn::Lanes(F()));
  // Offsets are 32-bit, places are floats.
  const bool too_far = double(std::abs(src.stride)) * src.height > 2147483647.0 ||
                       std::max(src.width, src.height) > 1 << 22;
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
void warp_byte_parts(ByteView src, const ProjectiveMap& map, bool projective,
                     ImageView<std::int16_t> dst, Border border) {
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
HWY_EXPORT(warp_byte_parts);
HWY_EXPORT(warp_byte_byte);
HWY_EXPORT(warp_float_float);

void dispatch(ByteView src, const ProjectiveMap& map, bool projective, ImageView<float> dst,
              Border border) {
  HWY_DYNAMIC_DISPATCH(warp_byte_float)(src, map, projective, dst, border);
}
void dispatch(ByteView src, const ProjectiveMap& map, bool projective, ImageView<std::int16_t> dst,
              Border border) {
  HWY_DYNAMIC_DISPATCH(warp_byte_parts)(src, map, projective, dst, border);
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
void warp_affine(ByteView src, const AffineMap& map, ImageView<std::int16_t> dst, Border border) {
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
