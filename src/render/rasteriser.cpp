#include "sdm/render/rasteriser.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/simd.h"
#include "render/outline.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "render/rasteriser.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sdm::render::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Triangles of a mesh are a few pixels wide. Not one product is fused with a sum, so that a face is
// the same on every processor.
using F = hn::CappedTag<float, 8>;
using I = hn::RebindToSigned<F>;
using VF = hn::Vec<F>;

template <bool kPerspective>
void fill(const Outline& outline, int number, const Raster::Shown* shown, const Planes& planes) {
  const F f;
  const int lanes = int(hn::Lanes(f));
  const float *a = outline.a, *b = outline.b, *c = outline.c;
  const float bx = b[0] - a[0], by = b[1] - a[1], cx = c[0] - a[0], cy = c[1] - a[1];
  const VF scale = hn::Set(f, 1 / (bx * cy - cx * by));
  const VF ax = hn::Set(f, a[0]), by_all = hn::Set(f, by), cy_all = hn::Set(f, cy);
  const VF az = hn::Set(f, a[2]), bz = hn::Set(f, b[2]), cz = hn::Set(f, c[2]);
  const VF one = hn::Set(f, 1), edge = hn::Set(f, kOutside);
  const VF last = hn::Set(f, float(outline.x1)), nearest = hn::Set(f, outline.nearest);
  for (int y = outline.y0; y <= outline.y1; ++y) {
    const float py = float(y) - a[1];
    const VF cx_py = hn::Set(f, cx * py), bx_py = hn::Set(f, bx * py);
    for (int x = outline.x0; x <= outline.x1; x += lanes) {
      const VF column = hn::Iota(f, float(x)), px = hn::Sub(column, ax);
      VF w1 = hn::Mul(hn::Sub(hn::Mul(px, cy_all), cx_py), scale);
      VF w2 = hn::Mul(hn::Sub(bx_py, hn::Mul(px, by_all)), scale);
      VF w0 = hn::Sub(hn::Sub(one, w1), w2);
      const std::size_t at = std::size_t(y) * std::size_t(planes.width) + std::size_t(x);
      const VF before = hn::LoadU(f, planes.depth + at);
      auto seen = hn::And(hn::Ge(hn::Min(w0, hn::Min(w1, w2)), edge),
                          hn::And(hn::Le(column, last), hn::Gt(before, nearest)));
      if (hn::AllFalse(f, seen)) continue;
      VF depth;
      if constexpr (kPerspective) {
        w0 = hn::Div(w0, az), w1 = hn::Div(w1, bz), w2 = hn::Div(w2, cz);
        depth = hn::Div(one, hn::Add(hn::Add(w0, w1), w2));
        w0 = hn::Mul(w0, depth), w1 = hn::Mul(w1, depth), w2 = hn::Mul(w2, depth);
      } else {
        depth = hn::Add(hn::Add(hn::Mul(w0, az), hn::Mul(w1, bz)), hn::Mul(w2, cz));
      }
      seen = hn::And(seen, hn::Lt(depth, before));
      if (shown != nullptr) {
        HWY_ALIGN float first[hn::MaxLanes(F())], second[hn::MaxLanes(F())],
            third[hn::MaxLanes(F())], there[hn::MaxLanes(F())];
        hn::Store(w0, f, first);
        hn::Store(w1, f, second);
        hn::Store(w2, f, third);
        hn::Store(hn::IfThenElseZero(seen, one), f, there);
        for (int k = 0; k < lanes; ++k)
          if (there[k] > 0 && !(*shown)(number, first[k], second[k], third[k])) there[k] = 0;
        seen = hn::Gt(hn::Load(f, there), hn::Zero(f));
      }
      hn::BlendedStore(depth, seen, f, planes.depth + at);
      if (planes.triangle == nullptr) continue;
      hn::BlendedStore(w1, seen, f, planes.second + at);
      hn::BlendedStore(w2, seen, f, planes.third + at);
      hn::BlendedStore(hn::Set(I(), number), hn::RebindMask(I(), seen), I(), planes.triangle + at);
    }
  }
}

void draw(const Points& projected, const std::vector<Triangle>& triangles, bool perspective,
          const Raster::Shown& shown, const Raster::OneSided& one_sided,
          const Raster::ExtentOf& extent_of, const Planes& planes) {
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    Outline outline;
    if (!outline.of(projected, triangles[i], perspective, planes.width, planes.height)) continue;
    // Counter-clockwise triangles face the viewer; in a picture y goes down.
    if (outline.area > 0 && one_sided && one_sided(int(i))) continue;
    const auto extent = extent_of ? extent_of(int(i)) : Raster::Extent::holed;
    if (extent == Raster::Extent::none) continue;
    const Raster::Shown* asked = shown && extent == Raster::Extent::holed ? &shown : nullptr;
    perspective ? fill<true>(outline, int(i), asked, planes)
                : fill<false>(outline, int(i), asked, planes);
  }
}

}  // namespace
}  // namespace sdm::render::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::render {
namespace {

HWY_EXPORT(draw);

}  // namespace

void Raster::reset(int width, int height) {
  width_ = width, height_ = height;
  // The last vector may reach beyond the last pixel.
  const std::size_t room = std::size_t(width) * std::size_t(height) + kRoom;
  const Fragment none;
  depth_.assign(room, none.depth);
  if (only_depths_) return;
  triangle_.assign(room, none.triangle);
  second_.assign(room, none.second);
  third_.assign(room, none.third);
}

void Raster::draw(const Points& projected, const std::vector<Triangle>& triangles, bool perspective,
                  const Shown& shown, const OneSided& one_sided, const ExtentOf& extent) {
  const Planes planes{width_,         height_,
                      depth_.data(),  only_depths_ ? nullptr : triangle_.data(),
                      second_.data(), third_.data()};
  HWY_DYNAMIC_DISPATCH(draw)(projected, triangles, perspective, shown, one_sided, extent, planes);
}

}  // namespace sdm::render
#endif  // HWY_ONCE
