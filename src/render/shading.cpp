#include "render/shading.h"

#include <algorithm>

#include "base/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "render/shading.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sdm::render::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Samples side by side that are shaded at once.
using F = hn::CappedTag<float, 8>;
using VF = hn::Vec<F>;
constexpr std::size_t kMost = hn::MaxLanes(F());

VF all(float value) { return hn::Set(F(), value); }

struct Vectors {
  VF x, y, z;

  VF dot(const Vectors& other) const {
    return hn::Add(hn::Mul(x, other.x), hn::Add(hn::Mul(y, other.y), hn::Mul(z, other.z)));
  }
  Vectors times(VF factor) const {
    return {hn::Mul(factor, x), hn::Mul(factor, y), hn::Mul(factor, z)};
  }
  Vectors over(VF length) const {
    return {hn::Div(x, length), hn::Div(y, length), hn::Div(z, length)};
  }
};

// Light::expansion
VF expansion(const std::array<float, 9>& h, const Vectors& n) {
  const auto term = [](float weight, VF value) HWY_ATTR { return hn::Mul(all(weight), value); };
  VF sum = hn::Add(all(h[0]), term(h[1], n.y));
  sum = hn::Add(sum, term(h[2], n.z));
  sum = hn::Add(sum, term(h[3], n.x));
  sum = hn::Add(sum, hn::Mul(term(h[4], n.x), n.y));
  sum = hn::Add(sum, hn::Mul(term(h[5], n.y), n.z));
  sum = hn::Add(sum, term(h[6], hn::Sub(hn::Mul(term(3, n.z), n.z), all(1))));
  sum = hn::Add(sum, hn::Mul(term(h[7], n.x), n.z));
  return hn::Add(sum, term(h[8], hn::Sub(hn::Mul(n.x, n.x), hn::Mul(n.y, n.y))));
}

// Of the fragments of one vector.
struct Surfaces {
  HWY_ALIGN float at[3][4 * kMost] = {};  // what Corners has, four numbers of each
  HWY_ALIGN float reflectance[kMost] = {}, specular[kMost] = {}, shininess[kMost] = {},
                  wrap[kMost] = {};
  bool there[kMost] = {};
};

void shade_vector(const Surfaces& s, const Light& light, const ShadowMap* shadows, float distance,
                  float* bright) {
  const F f;
  const int lanes = int(hn::Lanes(f));
  const VF zero = hn::Zero(f), one = all(1);
  Vectors point, normal;
  VF open, unused;
  hn::LoadInterleaved4(f, s.at[0], point.x, point.y, point.z, normal.x);
  hn::LoadInterleaved4(f, s.at[1], normal.y, normal.z, unused, unused);
  hn::LoadInterleaved4(f, s.at[2], open, unused, unused, unused);
  const VF reflectance = hn::Load(f, s.reflectance), specular = hn::Load(f, s.specular);
  const VF shininess = hn::Load(f, s.shininess), wrap = hn::Load(f, s.wrap);
  normal = normal.over(hn::Sqrt(hn::Add(normal.dot(normal), all(1e-12F))));
  Vectors view{hn::Neg(point.x), hn::Neg(point.y), hn::Sub(all(distance), point.z)};
  view = view.over(hn::Sqrt(view.dot(view)));
  VF facing = normal.dot(view);
  const VF side = hn::IfThenElse(hn::Lt(facing, zero), all(-1), one);
  normal = normal.times(side);
  facing = hn::Mul(facing, side);
  const VF ambient = hn::Mul(hn::Max(expansion(light.harmonics, normal), zero), open);
  const Vectors lamp{all(light.direction.x()), all(light.direction.y()), all(light.direction.z())};
  const VF cosine = normal.dot(lamp);
  const VF reached = hn::Div(hn::Add(cosine, wrap), hn::Add(one, wrap));
  VF direct = hn::Mul(hn::Max(reached, zero), all(light.strength)), shine = zero;
  if (shadows != nullptr) {
    HWY_ALIGN float x[kMost], y[kMost], z[kMost], towards[kMost], lit[kMost];
    hn::Store(point.x, f, x);
    hn::Store(point.y, f, y);
    hn::Store(point.z, f, z);
    hn::Store(hn::Max(cosine, zero), f, towards);
    hn::Store(direct, f, lit);
    for (int k = 0; k < lanes; ++k)
      if (lit[k] > 0 && s.there[k])
        lit[k] *= shadows->lit({x[k], y[k], z[k]}, 0.25F + 0.5F * (1 - towards[k]));
    direct = hn::Load(f, lit);
    Vectors half{hn::Add(lamp.x, view.x), hn::Add(lamp.y, view.y), hn::Add(lamp.z, view.z)};
    half = half.over(hn::Sqrt(half.dot(half)));
    const VF h = hn::Max(normal.dot(half), zero);
    // Schlick's h^n.
    const VF strength = hn::Div(hn::Mul(specular, direct), hn::Max(cosine, all(0.1F)));
    const VF width = hn::Add(hn::Mul(shininess, hn::Sub(one, h)), h);
    const auto shines =
        hn::And(hn::And(hn::Gt(direct, zero), hn::Gt(cosine, zero)), hn::Gt(specular, zero));
    shine = hn::IfThenElseZero(shines, hn::Div(hn::Mul(strength, h), width));
  }
  const VF rim = hn::Sub(one, hn::Max(facing, zero));
  VF edge = hn::Mul(all(0.5F), specular);
  for (int i = 0; i < 4; ++i) edge = hn::Mul(edge, rim);
  const VF sum = hn::Add(hn::Add(hn::Mul(reflectance, hn::Add(ambient, direct)), shine),
                         hn::Mul(edge, ambient));
  HWY_ALIGN float sums[kMost];
  hn::Store(sum, f, sums);
  for (int k = 0; k < lanes; ++k)
    if (s.there[k]) bright[k] = sums[k];
}

void shade(const Scene& scene, const Corners& corners, const Light& light, const ShadowMap* shadows,
           const Raster& raster, float distance, image::ImageView<float> bright) {
  const int lanes = int(hn::Lanes(F()));
  Surfaces s;
  for (int y = 0; y < raster.height(); ++y)
    for (int x = 0; x < raster.width(); x += lanes) {
      bool any = false;
      for (int k = 0; k < lanes; ++k) {
        const Fragment fragment = x + k < raster.width() ? raster.at(x + k, y) : Fragment();
        s.there[k] = fragment.triangle >= 0;
        if (!s.there[k]) continue;
        any = true;
        const auto number = std::size_t(fragment.triangle);
        const Triangle& t = scene.triangles[number];
        const Material& material = scene.materials[scene.material[number]];
        const float w1 = fragment.second, w2 = fragment.third, w0 = 1 - w1 - w2;
        const float *a = corners.col(t[0]).data(), *b = corners.col(t[1]).data(),
                    *c = corners.col(t[2]).data();
        for (int j = 0; j < 12; ++j) s.at[j / 4][4 * k + j % 4] = w0 * a[j] + w1 * b[j] + w2 * c[j];
        s.reflectance[k] =
            std::max(0.0F, material.reflectance(s.at[1][4 * k + 2], s.at[1][4 * k + 3]));
        s.specular[k] = material.specular;
        s.shininess[k] = material.shininess;
        s.wrap[k] = material.wrap;
      }
      if (any) shade_vector(s, light, shadows, distance, &bright(x, y));
    }
}

}  // namespace
}  // namespace sdm::render::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::render {
namespace {

HWY_EXPORT(shade);

}  // namespace

void shade(const Scene& scene, const Corners& corners, const Light& light, const ShadowMap* shadows,
           const Raster& raster, float distance, Field& bright) {
  HWY_DYNAMIC_DISPATCH(shade)(scene, corners, light, shadows, raster, distance, bright);
}

}  // namespace sdm::render
#endif  // HWY_ONCE
