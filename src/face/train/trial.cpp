#include "sdm/face/train/trial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "face/starts.h"

namespace sdm::face {
namespace {

constexpr float kPi = std::numbers::pi_v<float>;

image::Image<std::uint8_t> faceless_picture(int size, Uniform& uniform) {
  enum Kind { flat, noise, slope, stripes, blobs, kinds };
  const int kind = uniform.below(kinds);
  const float base = uniform(30, 220), strength = uniform(10, 100), fx = uniform(-0.4F, 0.4F),
              fy = uniform(-0.4F, 0.4F), grain = kind == noise ? strength : uniform(0, 6);
  struct Blob {
    float x, y, size, height;
  };
  std::array<Blob, 20> blob{};
  const auto side = static_cast<float>(size);
  for (Blob& one : blob)
    one = {uniform(0, side), uniform(0, side), uniform(3, 30), uniform(-100, 100)};
  image::Image<std::uint8_t> picture(size, size);
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x) {
      const auto u = static_cast<float>(x), v = static_cast<float>(y);
      float grey = base;
      if (kind == slope) grey += strength * (fx * (u - side / 2) + fy * (v - side / 2)) / 30;
      if (kind == stripes) grey += strength * std::sin(fx * u + fy * v);
      if (kind == blobs)
        for (const Blob& one : blob) {
          const float dx = (u - one.x) / one.size, dy = (v - one.y) / one.size;
          grey += one.height * std::exp(-(dx * dx + dy * dy) / 2);
        }
      grey += grain * uniform(-1, 1);
      picture(x, y) = static_cast<std::uint8_t>(std::clamp(grey, 0.0F, 255.0F));
    }
  return picture;
}

Frame upright(float scale, float x, float y) { return {scale, 0, x, y}; }

}  // namespace

Trial make_trial(TrialKind kind, image::ByteView picture, const Shape& truth, const Model& model,
                 std::uint64_t seed) {
  Noise noise(seed);
  Uniform uniform(seed);
  const Frame face = fit_frame(model.mean, truth);
  const float unit = face.scale();
  const auto near = [&](float units) { return unit * uniform(-units, units); };
  switch (kind) {
    case TrialKind::detected:
      return {detected_frame(truth, model.mean, model.boxes.front(), noise), {}};
    case TrialKind::tracked:
      return {tracked_frame(truth, model.mean, noise), {}};
    case TrialKind::moved: {
      const float way = unit * uniform(0.3F, 2), angle = uniform(-kPi, kPi);
      return {upright(unit * std::exp(uniform(-0.4F, 0.4F)), face.x + way * std::cos(angle),
                      face.y + way * std::sin(angle)),
              {}};
    }
    case TrialKind::resized: {
      const float size = uniform.below(2) == 0 ? uniform(0.3F, 0.55F) : uniform(1.8F, 3);
      return {upright(size * unit, face.x + near(0.5F), face.y + near(0.5F)), {}};
    }
    case TrialKind::turned: {
      const float turn = uniform.sign() * uniform(kPi / 4, kPi);
      const float c = std::cos(turn), s = std::sin(turn);
      return {{face.a * c - face.b * s, face.b * c + face.a * s, face.x + near(0.2F),
               face.y + near(0.2F)},
              {}};
    }
    case TrialKind::window:
      return {
          upright(unit * uniform(0.25F, 0.6F), uniform(0, static_cast<float>(picture.width - 1)),
                  uniform(0, static_cast<float>(picture.height - 1))),
          {}};
    case TrialKind::faceless:
      break;
  }
  const int size = 160;
  const float middle = 0.5F * static_cast<float>(size);
  return {upright(uniform(20, 60), middle + uniform(-20, 20), middle + uniform(-20, 20)),
          faceless_picture(size, uniform)};
}

double unit_error(const Shape& points, const Shape& truth, const Shape& mean) {
  return mean_distance(points, truth) / static_cast<double>(fit_frame(mean, truth).scale());
}

}  // namespace sdm::face
