#include "render/paint.h"

#include <cmath>
#include <numbers>

namespace sdm::render {
namespace {

// Through five points, one a quarter of the way each.
Eigen::Vector2f along(const std::vector<Eigen::Vector2f>& points, float t) {
  const float s = std::clamp(t, 0.0F, 1.0F) * float(points.size() - 1);
  const int i = std::min(int(s), int(points.size()) - 2);
  const float f = s - float(i);
  const auto at = [&](int k) -> Eigen::Vector2f {
    const int last = int(points.size()) - 1;
    if (k < 0) return 2 * points.front() - points[1];
    if (k > last) return 2 * points.back() - points[std::size_t(last - 1)];
    return points[std::size_t(k)];
  };
  const Eigen::Vector2f a = at(i - 1), b = at(i), c = at(i + 1), d = at(i + 2);
  return 0.5F * (2 * b + (c - a) * f + (2 * a - 5 * b + 4 * c - d) * f * f +
                 (3 * b - a - 3 * c + d) * f * f * f);
}

void darken_along(const std::vector<Eigen::Vector2f>& line, float half_width, Field& field) {
  constexpr int kSteps = 16;
  for (int i = 0; i < kSteps; ++i) {
    const Eigen::Vector2f a = along(line, float(i) / kSteps),
                          b = along(line, float(i + 1) / kSteps);
    draw_line(field, a.x(), a.y(), b.x(), b.y(), half_width, 1);
  }
}

// Strands over a soft ground, thicker in the middle. The points lie just above the upper edge, the
// outer one a little beyond the end, the inner one on the edge just before it.
Field paint_brows(const Layout& layout, const Person& person, Random& random, BrowPoints& points) {
  Field brows(Layout::kWidth, Layout::kHeight);
  constexpr float kCm = Layout::kPerCm;
  constexpr int kSteps = 80;
  const float thickness =
      (person.female ? between(random, 0.14, 0.4) : between(random, 0.22, 0.55)) * kCm;
  const float down = between(random, 0.1, 1.3) * kCm;
  const auto arch = float(0.12 * random.normal() - 0.12), tilt = float(0.15 * random.normal());
  const float outer = between(random, -0.1, 0.15), inner = float(-0.02 + 0.15 * random.normal());
  const float inner_down = between(random, 0, 0.3);
  const float ground = between(random, 0.5, 0.9), strands = between(random, 0.4, 1);
  const float softness = between(random, 0.6, 1.8);
  for (int side = 0; side < 2; ++side) {
    std::vector<Eigen::Vector2f> line = layout.brows[std::size_t(side)];
    const float outwards = side == 0 ? -1 : 1;
    for (int k = 0; k < 5; ++k) {
      const float t = float(k) / 4;
      line[std::size_t(k)].y() +=
          down + kCm * (-4 * arch * t * (1 - t) + tilt * (t - 0.5F) + 0.12F * t +
                        inner_down * std::pow(std::max(0.0F, 2 * t - 1), 2.0F));
    }
    line[0].x() += outwards * outer * kCm;
    line[4].x() -= outwards * inner * kCm;
    const float p0 = between(random, 0.1, 0.4), p1 = between(random, 0.5, 0.85),
                p3 = between(random, 0.8, 1.1), p4 = between(random, 0.4, 0.9);
    const std::array<std::pair<float, float>, 5> profile{
        {{0, p0}, {0.25F, p1}, {0.7F, 1}, {0.95F, p3}, {1, p4}}};
    const auto half = [&](float t) { return thickness * interpolate(profile, t); };
    std::vector<float> xs, ys;
    for (int i = 0; i <= 2 * kSteps; ++i) {
      const float t = float(i <= kSteps ? i : 2 * kSteps - i) / kSteps;
      const Eigen::Vector2f p = along(line, t);
      xs.push_back(p.x());
      ys.push_back(p.y() + (i <= kSteps ? -half(t) : half(t)));
    }
    // A window of the canvas with room for strands.
    constexpr int kRoom = 14;
    const int left = int(*std::min_element(xs.begin(), xs.end())) - kRoom;
    const int top = int(*std::min_element(ys.begin(), ys.end())) - kRoom;
    const int width = int(*std::max_element(xs.begin(), xs.end())) + kRoom - left;
    const int height = int(*std::max_element(ys.begin(), ys.end())) + kRoom - top;
    for (float& x : xs) x -= float(left);
    for (float& y : ys) y -= float(top);
    Field mask(width, height), hairs(width, height);
    fill_polygon(mask, xs, ys);
    blur(mask, softness);
    const int count = int(random.uniform(120, 400));
    for (int i = 0; i < count; ++i) {
      const float t = float(random.uniform()), length = between(random, 0.25, 0.7) * kCm;
      const Eigen::Vector2f root = along(line, t) - Eigen::Vector2f(float(left), float(top)) +
                                   Eigen::Vector2f(0, half(t) * between(random, -1, 1));
      // Up at the inner end, outwards and a little down at the outer one.
      const float angle = 0.35F - 1.45F * t + float(0.3 * random.normal());
      draw_line(hairs, root.x(), root.y(), root.x() + outwards * std::cos(angle) * length,
                root.y() + std::sin(angle) * length, 0.35F, 1);
    }
    for (int v = std::max(0, -top); v < std::min(height, Layout::kHeight - top); ++v)
      for (int u = std::max(0, -left); u < std::min(width, Layout::kWidth - left); ++u) {
        float& brow = brows(left + u, top + v);
        brow = std::max(brow, clamp01(mask(u, v) * ground + hairs(u, v) * strands));
      }
    for (int k = 0; k < 5; ++k) {
      constexpr std::array<float, 5> kAlong{0, 0.25F, 0.53F, 0.76F, 1}, kOut{0.1F, 0, 0, 0, 0.04F},
          kAbove{0.1F, 0.1F, 0.1F, 0.1F, 0};
      const auto i = std::size_t(k);
      const Eigen::Vector2f beyond(outwards * kOut[i] * kCm, -half(kAlong[i]) - kAbove[i] * kCm);
      const Eigen::Vector2f p = along(line, kAlong[i]) + beyond;
      points[std::size_t(side == 0 ? k : 9 - k)] = layout.skin_at(p.x(), p.y());
    }
  }
  return brows;
}

}  // namespace

FacePaint paint_face(const Layout& layout, const Noise& noise, const Field* skin,
                     const Person& person, Random& random) {
  FacePaint paint;
  paint.skin = Field(Layout::kWidth, Layout::kHeight);
  const float large = between(random, 0, 0.25), middle = between(random, 0, 0.12),
              fine = between(random, 0, 0.1), texture = between(random, 0.25, 0.5);
  const Grain large_grain = Grain::random(random, 70, 70),
              middle_grain = Grain::random(random, 12, 12),
              fine_grain = Grain::random(random, 2, 2);
  const float lips =
      random.uniform() < 0.6 ? between(random, -0.1, 0.35) : between(random, 0.2, 0.7);
  const float circles =
      random.uniform() < 0.75 ? between(random, 0, 0.12) : between(random, 0.1, 0.28);
  const float folds = random.uniform() < 0.5 ? between(random, 0.05, 0.4) : 0.0F;
  const float neck = random.uniform() < 0.7 ? between(random, 0, 0.5) : between(random, -0.2, 0);
  // Liner, lids and lashes darken the rims of the eyes.
  Field rims(Layout::kWidth, Layout::kHeight);
  const bool liner = random.uniform() < (person.female ? 0.6 : 0.2);
  const float rim_width = liner ? between(random, 1.1, 3) : between(random, 0.7, 1.8);
  const bool below = random.uniform() < 0.6;
  Field creases(Layout::kWidth, Layout::kHeight);
  const float crease_height = between(random, 0.25, 0.7) * Layout::kPerCm,
              crease = random.uniform() < 0.75 ? between(random, 0.15, 0.6) : 0.0F;
  for (int side = 0; side < 2; ++side) {
    const auto above_lid = [&](float corners, float middle) {
      std::vector<Eigen::Vector2f> line = layout.upper_lids[std::size_t(side)];
      for (std::size_t k = 0; k < line.size(); ++k)
        line[k].y() -= k == 0 || k == 3 ? corners : middle;
      return line;
    };
    constexpr float kLashLine = 0.1F * Layout::kPerCm;  // above the rim
    darken_along(above_lid(kLashLine, kLashLine), rim_width, rims);
    // The fold of the upper lid.
    darken_along(above_lid(0.15F * crease_height, crease_height), 0.5F, creases);
    if (below) darken_along(layout.lower_lids[std::size_t(side)], 0.4F * rim_width, rims);
  }
  const float rim = liner ? between(random, 0.8, 1) : between(random, 0.55, 1);
  if (liner) blur(rims, between(random, 0.5, 1.8));

  // Beard and moustache.
  const bool goatee = random.uniform() < 0.25;
  const float reach = between(random, 0.8, 1.3);
  const Grain patch_grain = Grain::random(random, 22, 22),
              hair_grain = Grain::random(random, 1.6F, 2.6F);
  const bool moustached = !person.female && random.uniform() < 0.3;
  const float moustache = moustached ? between(random, 0.4, 1) : 0.7F * person.beard;
  if (person.thickness > 0) paint.beard = Field(Layout::kWidth, Layout::kHeight);
  const bool bearded = person.beard > 0 || moustache > 0;

  const Field brows = paint_brows(layout, person, random, paint.brows);
  const float brow_opacity =
      random.uniform() < 0.85 ? between(random, 0.8, 1) : between(random, 0.2, 0.6);
  const float brow_colour =
      std::min(person.hair * between(random, 0.5, 1.2), person.skin * between(random, 0.15, 0.6));

  GrainRows large_rows(noise, large_grain, Layout::kWidth),
      middle_rows(noise, middle_grain, Layout::kWidth),
      fine_rows(noise, fine_grain, Layout::kWidth), patch_rows(noise, patch_grain, Layout::kWidth),
      hair_rows(noise, hair_grain, Layout::kWidth);
  for (int v = 0; v < Layout::kHeight; ++v) {
    const auto fv = float(v);
    const float *larges = large_rows(fv), *middles = middle_rows(fv), *fines = fine_rows(fv);
    const float* patch_row = bearded ? patch_rows(fv) : nullptr;
    const float* hair_row = bearded ? hair_rows(fv) : nullptr;
    for (int u = 0; u < Layout::kWidth; ++u) {
      if (layout.covered(u, v) == 0) {
        paint.skin(u, v) = person.skin;
        continue;
      }
      float value =
          person.skin * std::exp(large * larges[u] + middle * middles[u] + fine * fines[u]);
      if (skin != nullptr) value *= 1 + texture * ((*skin)(u, v) - 1);
      value *= 1 - lips * layout.lips(u, v);
      value *= (1 - circles * layout.circles(u, v)) * (1 - folds * layout.folds(u, v)) *
               (1 - neck * layout.neck(u, v)) * (1 - rim * rims(u, v)) *
               (1 - crease * creases(u, v));
      if (bearded) {
        const float strand = clamp01(0.75F + 0.5F * hair_row[u]);
        const float patches = 1 + 0.4F * patch_row[u];
        float cover = clamp01(layout.beard(u, v) * reach * patches) * (1 - layout.lips(u, v));
        if (goatee && (std::abs(layout.x(u, v)) > 3.4F || layout.y(u, v) > -0.5F)) cover = 0;
        if (person.thickness > 0) paint.beard(u, v) = cover;
        cover = std::max(cover * person.beard, layout.moustache(u, v) * moustache);
        value += (person.hair - value) * clamp01(cover * strand);
      }
      value += (brow_colour - value) * clamp01(brows(u, v) * brow_opacity);
      paint.skin(u, v) = std::max(value, 0.002F);
    }
  }
  return paint;
}

Field paint_eye(const Noise& noise, Random& random) {
  constexpr int kSide = 96;
  Field eye(kSide, kSide);
  const float iris = between(random, 0.44, 0.5), pupil = between(random, 0.14, 0.24);
  const float white = between(random, 0.2, 0.5);
  const float colour =
      random.uniform() < 0.5 ? between(random, 0.01, 0.06) : between(random, 0.05, 0.3);
  const float lid_shade = between(random, 0.2, 0.7);  // of the upper lid and its lashes
  const Grain grain = Grain::random(random, 4, 4);
  for (int v = 0; v < kSide; ++v)
    for (int u = 0; u < kSide; ++u) {
      const float x = 2 * float(u) / (kSide - 1) - 1, y = 2 * float(v) / (kSide - 1) - 1;
      const float r = std::hypot(x, y);
      float value =
          white * (1 - 0.3F * ramp(0.55F, 0.95F, r)) * (1 - lid_shade * ramp(0.05F, -0.45F, y));
      const float in_iris = ramp(iris, iris - 0.04F, r), in_pupil = ramp(pupil, pupil - 0.03F, r);
      const float ring = 1 - 0.5F * ramp(iris - 0.1F, iris, r);
      value += (colour * (1 + 0.4F * grain(noise, float(u), float(v))) * ring - value) * in_iris;
      eye(u, v) = std::max(0.004F, value * (1 - in_pupil) + 0.004F * in_pupil);
    }
  return eye;
}

Field paint_lashes(Random& random) {
  Field lashes(400, 2);
  const double upper = random.uniform() < 0.2 ? 0 : random.uniform(0.13, 0.65);
  const double lower = upper * random.uniform();
  for (int u = 0; u < lashes.width(); ++u) {
    lashes(u, 0) = random.uniform() < upper ? 0.01F : -1;
    lashes(u, 1) = random.uniform() < lower ? 0.01F : -1;
  }
  return lashes;
}

Field paint_cloth(const Noise& noise, Random& random) {
  constexpr int kSide = 128;
  Field cloth(kSide, kSide);
  const float first = std::exp(between(random, std::log(0.01), std::log(0.8)));
  const float second = std::exp(between(random, std::log(0.01), std::log(0.8)));
  const double kind = random.uniform();
  const float period = between(random, 4, 24), angle = between(random, 0, std::numbers::pi);
  const float c = std::cos(angle), s = std::sin(angle), sharp = between(random, 1, 6);
  const Grain flower = Grain::random(random, between(random, 5, 20), between(random, 5, 20));
  const Grain crease = Grain::random(random, 12, 40), weave = Grain::random(random, 1.5F, 1.5F);
  for (int v = 0; v < kSide; ++v)
    for (int u = 0; u < kSide; ++u) {
      const auto fu = float(u), fv = float(v);
      float mix = 0;
      const float wave = 2 * std::numbers::pi_v<float> / period;
      const float across = std::sin((c * fu + s * fv) * wave);
      if (kind > 0.85)
        mix = clamp01(0.5F + sharp * flower(noise, fu, fv));
      else if (kind > 0.7)
        mix = clamp01(0.5F + sharp * across * std::sin((c * fv - s * fu) * wave));
      else if (kind > 0.5)
        mix = clamp01(0.5F + sharp * across);
      cloth(u, v) = (first + mix * (second - first)) *
                    std::exp(0.25F * crease(noise, fu, fv) + 0.08F * weave(noise, fu, fv));
    }
  return cloth;
}

}  // namespace sdm::render
