#include "face/starts.h"

#include <cmath>
#include <numbers>

namespace sdm::face {

float Noise::operator()() {
  const double u = (static_cast<double>(random_() >> 11) + 1) * 0x1p-53;
  const double v = static_cast<double>(random_() >> 11) * 0x1p-53;
  return static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v));
}

Frame detected_frame(const Shape& truth, const Shape& mean, const BoxConvention& convention,
                     Noise& noise) {
  const Frame frame = fit_frame(mean, truth);
  const float unit = frame.scale();
  const float x = noise(), y = noise(), s = noise();
  return {unit * std::exp(convention.sigma_log_scale * s), 0,
          frame.x + unit * convention.sigma_x * x, frame.y + unit * convention.sigma_y * y};
}

Frame tracked_frame(const Shape& truth, const Shape& mean, Noise& noise) {
  // The paper moves faces by 10 px, which are some 0.09 eye distances at its size, and 5 % of their
  // size.
  constexpr float kShift = 0.09F, kLogScale = 0.05F, kTurn = 0.05F;
  const Frame frame = fit_frame(mean, truth);
  const float unit = frame.scale();
  const float x = noise(), y = noise(), s = std::exp(kLogScale * noise()), t = kTurn * noise();
  const float c = s * std::cos(t), d = s * std::sin(t);
  return {frame.a * c - frame.b * d, frame.b * c + frame.a * d, frame.x + kShift * unit * x,
          frame.y + kShift * unit * y};
}

}  // namespace sdm::face
