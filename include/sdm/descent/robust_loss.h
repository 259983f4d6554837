#pragma once

#include <cmath>

namespace sdm {

/// What large residuals cost: `rho(r)`, about r^2 near zero and less further out, so that outliers
/// pull less. The scale s is where it leaves the square.
enum class RobustLoss {
  kNone,    // r^2
  kHuber,   // 2 s |r| - s^2 beyond s
  kCauchy,  // s^2 log(1 + (r/s)^2)
  kTukey,   // s^2/3 (1 - (1 - (r/s)^2)^3), constant beyond s: no pull at all
};

/// rho and its derivatives at one residual. With `psi = rho' / 2` the weight is `psi / r`, what
/// iteratively reweighted least squares gives the residual, and the curvature is `psi'`.
struct LossValue {
  double rho, weight, curvature;
};

inline LossValue loss_value(RobustLoss loss, double scale, double r) {
  const double u = r / scale, u2 = u * u, s2 = scale * scale;
  switch (loss) {
    case RobustLoss::kNone:
      break;
    case RobustLoss::kHuber: {
      const double size = std::abs(r);
      if (size <= scale) break;
      return {2 * scale * size - s2, scale / size, 0};
    }
    case RobustLoss::kCauchy: {
      const double weight = 1 / (1 + u2);
      return {s2 * std::log1p(u2), weight, (1 - u2) * weight * weight};
    }
    case RobustLoss::kTukey: {
      const double rest = 1 - u2;
      if (rest <= 0) return {s2 / 3, 0, 0};
      return {r * r * (1 - u2 + u2 * u2 / 3), rest * rest, rest * (1 - 5 * u2)};
    }
  }
  return {r * r, 1, 1};
}

}  // namespace sdm
