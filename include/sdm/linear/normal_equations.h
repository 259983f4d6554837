#pragma once

#include "sdm/linear/symmetric_tiles.h"

namespace sdm::linear {

/// The sums that weighted linear regression of targets t on features f needs, and all that training
/// keeps of its samples. They add up: over chunks, over folds, over ranks.
template <class Scalar>
struct NormalEquations {
  SymmetricTiles<Scalar> gram;  // sum w f f^T
  Matrix<Scalar> cross;         // sum w f t^T, features x targets
  Vector<Scalar> feature_sum;   // sum w f
  Vector<Scalar> target_sum;    // sum w t
  Matrix<Scalar> target_gram;   // sum w t t^T
  Scalar weight_sum = 0;

  NormalEquations() = default;
  NormalEquations(Index features, Index targets);

  Index features() const { return cross.rows(); }
  Index targets() const { return cross.cols(); }
  static double bytes(Index features, Index targets);

  /// Samples stand in columns and are already scaled by the root of their weight.
  void add(ConstMatrixRef<Scalar> scaled_features, ConstMatrixRef<Scalar> scaled_targets,
           ConstVectorRef<Scalar> root_weights, ThreadPool& pool);
  NormalEquations& operator+=(const NormalEquations& other);

  /// The equations of the features and targets in other units: each times its factor.
  void scale(ConstVectorRef<Scalar> feature_factors, ConstVectorRef<Scalar> target_factors);

  /// The equations of the features P^T f, for an orthonormal P.
  NormalEquations project(const Matrix<Scalar>& p, ThreadPool& pool) const;

  /// Sum of w |f - mean|^2 when centred, of w |f|^2 otherwise: the energy of the features.
  double energy(bool centred) const;
};

}  // namespace sdm::linear
