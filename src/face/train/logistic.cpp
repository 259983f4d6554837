#include "face/train/logistic.h"

#include <Eigen/LU>
#include <cmath>

namespace sdm::face {

Logistic fit_logistic(const std::vector<double>& scores, const std::vector<double>& labels,
                      const std::vector<double>& divisors) {
  double good = 0, failed = 0;
  for (const double label : labels) (label > 0 ? good : failed) += 1;
  Logistic fit{1, 0};
  for (int round = 0; round < 50; ++round) {
    Eigen::Matrix2d hessian = 1e-9 * Eigen::Matrix2d::Identity();
    Eigen::Vector2d gradient = Eigen::Vector2d::Zero();
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double count = labels[i] > 0 ? good : failed;
      const double target = labels[i] > 0 ? (count + 1) / (count + 2) : 1 / (count + 2);
      const double p = 1 / (1 + std::exp(-(fit.slope * scores[i] + fit.offset)));
      const Eigen::Vector2d x(scores[i], 1);
      gradient += (p - target) / divisors[i] * x;
      hessian += p * (1 - p) / divisors[i] * x * x.transpose();
    }
    // Steps are bounded: far from the optimum the curvature says little.
    Eigen::Vector2d step = hessian.inverse() * gradient;
    const double largest = step.cwiseAbs().maxCoeff();
    if (largest > 2) step *= 2 / largest;
    fit.slope -= step[0];
    fit.offset -= step[1];
    if (largest < 1e-9) break;
  }
  return fit;
}

}  // namespace sdm::face
