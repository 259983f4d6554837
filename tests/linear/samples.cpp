#include "tests/linear/samples.h"

#include <Eigen/QR>

namespace sdm::linear {

Matrix<double> Samples::ridge_by_qr(double lambda, bool centred) const {
  const Index d = features.rows(), n = size(), columns = d + (centred ? 1 : 0);
  const Vector<double> roots = weights.cwiseSqrt();
  Matrix<double> system = Matrix<double>::Zero(n + d, columns);
  Matrix<double> right = Matrix<double>::Zero(n + d, targets.rows());
  system.topLeftCorner(n, d) = (features * roots.asDiagonal()).transpose();
  if (centred) system.col(d).head(n) = roots;
  system.bottomLeftCorner(d, d).diagonal().setConstant(std::sqrt(lambda));
  right.topRows(n) = (targets * roots.asDiagonal()).transpose();
  return system.householderQr().solve(right);
}

}  // namespace sdm::linear
