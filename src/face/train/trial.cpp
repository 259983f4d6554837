#include "sdm/face/train/trial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "face/starts.h"

namespace sdm::face {
namespace {

constexpr float kPi = std::numbers::pi_v<float>;

float even(Random& random, float low, float high) {
  return static_cast<float>(random.uniform(static_cast<double>(low), static_cast<double>(high)));
}

image::Image<std::uint8_t> faceless_picture(int size, Random& random) {
  enum Kind { flat, noise, slope, stripes, blobs, kinds };
  const auto uniform = [&](float low, float high) { return even(random, low, high); };
  const auto kind = static_cast<Kind>(random.below(kinds));
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

}  // namespace

Trial make_trial(TrialKind kind, image::ByteView picture, const Shape& truth, const Model& model,
                 std::uint64_t seed, std::uint64_t face) {
  Random random(seed, "trial", face * kTrialKinds.size() + static_cast<std::uint64_t>(kind));
  const auto uniform = [&](float low, float high) { return even(random, low, high); };
  // Braces draw from left to right, which a function's arguments need not do.
  const Similarity at = fit_similarity(model.mean, truth);
  const float unit = at.scale();
  const auto near = [&](float units) { return unit * uniform(-units, units); };
  switch (kind) {
    case TrialKind::detected:
      return {detected_start(truth, model.mean, model.boxes.front(), random), {}};
    case TrialKind::tracked:
      return {tracked_start(truth, model.mean, random), {}};
    case TrialKind::moved: {
      const float way = unit * uniform(0.3F, 2), angle = uniform(-kPi, kPi);
      return {{unit * std::exp(uniform(-0.4F, 0.4F)), 0, at.x + way * std::cos(angle),
               at.y + way * std::sin(angle)},
              {}};
    }
    case TrialKind::resized: {
      const float size = random.below(2) == 0 ? uniform(0.3F, 0.55F) : uniform(1.8F, 3);
      return {{size * unit, 0, at.x + near(0.5F), at.y + near(0.5F)}, {}};
    }
    case TrialKind::turned: {
      const float sign = static_cast<float>(random.sign()), turn = sign * uniform(kPi / 4, kPi);
      const float c = std::cos(turn), s = std::sin(turn);
      return {{at.a * c - at.b * s, at.b * c + at.a * s, at.x + near(0.2F), at.y + near(0.2F)}, {}};
    }
    case TrialKind::window:
      return {{unit * uniform(0.25F, 0.6F), 0, uniform(0, static_cast<float>(picture.width - 1)),
               uniform(0, static_cast<float>(picture.height - 1))},
              {}};
    case TrialKind::faceless:
      break;
  }
  const int size = 160;
  const float middle = 0.5F * static_cast<float>(size);
  return {{uniform(20, 60), 0, middle + uniform(-20, 20), middle + uniform(-20, 20)},
          faceless_picture(size, random)};
}

double unit_error(const Shape& points, const Shape& truth, const Shape& mean) {
  return mean_distance(points, truth) / static_cast<double>(fit_similarity(mean, truth).scale());
}

}  // namespace sdm::face
