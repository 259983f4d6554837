#pragma once

#include "sdm/linear/normal_equations.h"
#include "tests/linear/random.h"
#include "tests/linear/ridge_by_qr.h"

namespace sdm::linear {

/// Weighted samples in double, and the equations of the same in Scalar.
struct Samples {
  Matrix<double> features, targets;
  Vector<double> weights;

  Samples(Index feature_count, Index target_count, Index samples, unsigned seed)
      : features(random_matrix<double>(feature_count, samples, seed)),
        weights(random_vector<double>(samples, seed + 1).array().square() + 0.1) {
    // Offsets, so that centring matters, and targets that a linear map explains in part.
    features.colwise() += random_vector<double>(feature_count, seed + 2);
    targets = random_matrix<double>(target_count, feature_count, 1000) * features +
              2 * random_matrix<double>(target_count, samples, seed + 3);
    targets.colwise() += random_vector<double>(target_count, seed + 4);
  }

  Index size() const { return features.cols(); }

  template <class Scalar>
  NormalEquations<Scalar> equations(ThreadPool& pool) const {
    NormalEquations<Scalar> result(features.rows(), targets.rows());
    const Vector<double> roots = weights.cwiseSqrt();
    const Matrix<Scalar> f = (features * roots.asDiagonal()).cast<Scalar>();
    const Matrix<Scalar> t = (targets * roots.asDiagonal()).cast<Scalar>();
    const Vector<Scalar> r = roots.cast<Scalar>();
    // In two parts, as training adds chunks.
    const Index half = size() / 2;
    result.add(f.leftCols(half), t.leftCols(half), r.head(half), pool);
    result.add(f.rightCols(size() - half), t.rightCols(size() - half), r.tail(size() - half), pool);
    return result;
  }

  /// The ridge solution, computed another way. The last row is the bias when centred.
  Matrix<double> ridge_by_qr(double lambda, bool centred) const {
    return sdm::ridge_by_qr(features, targets, weights, lambda, centred);
  }
};

}  // namespace sdm::linear
