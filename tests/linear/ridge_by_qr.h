#pragma once

#include <Eigen/QR>
#include <cmath>

#include "sdm/base/types.h"

namespace sdm {

/// Weighted ridge by QR of the whole augmented data matrix: features x targets, and where there is
/// a bias, which the penalty does not hold, a last row for it.
inline Matrix<double> ridge_by_qr(const Matrix<double>& features, const Matrix<double>& targets,
                                  const Vector<double>& weights, double lambda, bool bias) {
  const Index size = features.rows(), n = features.cols(), columns = size + (bias ? 1 : 0);
  const Vector<double> roots = weights.cwiseSqrt();
  Matrix<double> system = Matrix<double>::Zero(n + size, columns);
  Matrix<double> right = Matrix<double>::Zero(n + size, targets.rows());
  system.topLeftCorner(n, size) = (features * roots.asDiagonal()).transpose();
  if (bias) system.col(size).head(n) = roots;
  system.bottomLeftCorner(size, size).diagonal().setConstant(std::sqrt(lambda));
  right.topRows(n) = (targets * roots.asDiagonal()).transpose();
  return system.householderQr().solve(right);
}

}  // namespace sdm
