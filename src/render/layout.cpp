#include "render/layout.h"

#include <cmath>
#include <numbers>

namespace sdm::render {
namespace {

template <class Value>
Field field_of(const Layout& layout, const Value& value) {
  Field field(Layout::kWidth, Layout::kHeight);
  for (int v = 0; v < Layout::kHeight; ++v)
    for (int u = 0; u < Layout::kWidth; ++u)
      if (layout.covered(u, v) > 0)
        field(u, v) = value(layout.x(u, v), layout.y(u, v), layout.z(u, v));
  return field;
}

}  // namespace

Eigen::Vector2f Layout::place(const Eigen::Vector3f& p) {
  const float azimuth = std::atan2(p.x(), p.z() - kAxis) / kDegree;
  return {(azimuth / kReach + 1) * 0.5F * float(kWidth - 1), (kTop - p.y()) * kPerCm};
}

SurfacePoint Layout::skin_at(float u, float v) const {
  const int x0 = std::clamp(int(std::lround(u)), 0, kWidth - 1);
  const int y0 = std::clamp(int(std::lround(v)), 0, kHeight - 1);
  for (int r = 0; r < kHeight; ++r)
    for (int y1 = std::max(0, y0 - r); y1 <= std::min(kHeight - 1, y0 + r); ++y1)
      for (int x1 = std::max(0, x0 - r); x1 <= std::min(kWidth - 1, x0 + r); ++x1) {
        if (std::max(std::abs(x1 - x0), std::abs(y1 - y0)) != r) continue;
        const Fragment& fragment = skin.at(x1, y1);
        if (fragment.triangle >= 0)
          return {triangles[std::size_t(fragment.triangle)],
                  {1 - fragment.second - fragment.third, fragment.second, fragment.third}};
      }
  return {};
}

Layout::Layout(const HeadModel& head)
    : places(2, head.neutral.cols()),
      skin(kWidth, kHeight),
      x(kWidth, kHeight),
      y(kWidth, kHeight),
      z(kWidth, kHeight),
      covered(kWidth, kHeight) {
  Points unrolled(3, head.neutral.cols());
  for (Index i = 0; i < head.neutral.cols(); ++i) {
    const Eigen::Vector3f point = head.neutral.col(i);
    places.col(i) = place(point);
    // The outermost skin is the nearest.
    unrolled.col(i) << places.col(i), -std::hypot(point.x(), point.z() - kAxis);
  }
  for (std::size_t i = 0; i < head.triangles.size(); ++i) {
    const Triangle& t = head.triangles[i];
    if (head.parts[i] != Part::skin) continue;
    const float left = std::min({places(0, t[0]), places(0, t[1]), places(0, t[2])});
    const float right = std::max({places(0, t[0]), places(0, t[1]), places(0, t[2])});
    if (right - left < float(kWidth) / 4) triangles.push_back(t);  // not across the seam
  }
  skin.draw(unrolled, triangles, false);
  for (int v = 0; v < kHeight; ++v)
    for (int u = 0; u < kWidth; ++u) {
      const Fragment& fragment = skin.at(u, v);
      if (fragment.triangle < 0) continue;
      const SurfacePoint place{
          triangles[std::size_t(fragment.triangle)],
          {1 - fragment.second - fragment.third, fragment.second, fragment.third}};
      const Eigen::Vector3f point = place.at(head.neutral);
      x(u, v) = point.x(), y(u, v) = point.y(), z(u, v) = point.z();
      covered(u, v) = 1;
    }

  const auto place_of = [&](int landmark) -> Eigen::Vector2f {
    return places.col(head.landmarks[std::size_t(landmark)]);
  };
  lips = Field(kWidth, kHeight);
  std::vector<float> us, vs;
  for (int k = 48; k < 60; ++k) {
    Eigen::Vector2f edge = place_of(k);
    if (k >= 49 && k <= 53) edge += kLipEdge * (place_of(k <= 50 ? 61 : k == 51 ? 62 : 63) - edge);
    us.push_back(edge.x()), vs.push_back(edge.y());
  }
  fill_polygon(lips, us, vs);
  blur(lips, 1.4F);

  beard = field_of(*this, [](float px, float py, float pz) {
    const float side = std::abs(px);
    const float low = ramp(-0.9F, -2.4F, py) + ramp(5.5F, 6.5F, side) * ramp(2.5F, 0.5F, py);
    const float cheek = clamp01(1 - squared((side - 3.9F) / 2.0F) - squared((py + 0.2F) / 3.2F));
    return clamp01(low) * ramp(-10.5F, -8.5F, py) * (side < 7.6F ? 1.0F : 0.0F) *
           ramp(1.5F, 3.5F, pz) * (1 - 0.95F * std::sqrt(cheek));
  });
  blur(beard, 5);
  moustache = field_of(*this, [](float px, float py, float pz) {
    // Between nose and lip, hanging down towards the corners.
    return pz > 6 ? clamp01(1 - squared(squared(px / 2.9F))) * ramp(-1.2F, -1.5F, py) *
                        ramp(-2.75F, -2.45F, py + 0.28F * std::abs(px))
                  : 0.0F;
  });
  blur(moustache, 1.2F);
  circles = field_of(*this, [](float px, float py, float) {
    return std::exp(-(squared((std::abs(px) - 3.2F) / 1.6F) + squared((py - 2.6F) / 0.7F)));
  });
  folds = field_of(*this, [](float px, float py, float pz) {
    // From beside the nose to beside the mouth.
    const float t = clamp01((-0.8F - py) / 3.0F);
    const float dx = std::abs(px) - (1.9F + 1.6F * t), dy = py - (-0.8F - 3.0F * t);
    return pz > 4 ? std::exp(-(dx * dx + dy * dy) / 0.06F) : 0.0F;
  });
  neck = field_of(*this, [](float, float py, float pz) {
    return std::max(ramp(-8.3F, -9.1F, py), ramp(6.5F, 4.5F, pz) * ramp(-6.5F, -8.0F, py));
  });
  for (int side = 0; side < 2; ++side) {
    const int first = side == 0 ? 36 : 42;
    for (int k = 0; k <= 3; ++k) upper_lids[std::size_t(side)].push_back(place_of(first + k));
    for (int k = 3; k <= 6; ++k) lower_lids[std::size_t(side)].push_back(place_of(first + k % 6));
    for (int k = 0; k < 5; ++k)
      brows[std::size_t(side)].push_back(place_of(side == 0 ? 17 + k : 26 - k));
  }
}

}  // namespace sdm::render
