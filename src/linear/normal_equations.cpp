#include "sdm/linear/normal_equations.h"

#include "linear/blas.h"

namespace sdm::linear {

template <class Scalar>
NormalEquations<Scalar>::NormalEquations(Index features, Index targets)
    : gram(features),
      cross(Matrix<Scalar>::Zero(features, targets)),
      feature_sum(Vector<Scalar>::Zero(features)),
      target_sum(Vector<Scalar>::Zero(targets)),
      target_gram(Matrix<Scalar>::Zero(targets, targets)) {}

template <class Scalar>
double NormalEquations<Scalar>::bytes(Index features, Index targets) {
  return SymmetricTiles<Scalar>::bytes(features) +
         sizeof(Scalar) * static_cast<double>(features * targets + targets * targets);
}

template <class Scalar>
void NormalEquations<Scalar>::add(ConstMatrixRef<Scalar> scaled_features,
                                  ConstMatrixRef<Scalar> scaled_targets,
                                  ConstVectorRef<Scalar> root_weights, ThreadPool& pool) {
  const blas::SingleThreaded single_threaded;
  gram.add_outer(scaled_features, pool);
  blas::multiply<Scalar>(false, true, features(), targets(), scaled_features.cols(), 1,
                         scaled_features.data(), scaled_features.outerStride(),
                         scaled_targets.data(), scaled_targets.outerStride(), 1, cross.data(),
                         features());
  feature_sum.noalias() += scaled_features * root_weights;
  target_sum.noalias() += scaled_targets * root_weights;
  target_gram.noalias() += scaled_targets * scaled_targets.transpose();
  weight_sum += root_weights.squaredNorm();
}

template <class Scalar>
NormalEquations<Scalar>& NormalEquations<Scalar>::operator+=(const NormalEquations& other) {
  gram += other.gram;
  cross += other.cross;
  feature_sum += other.feature_sum;
  target_sum += other.target_sum;
  target_gram += other.target_gram;
  weight_sum += other.weight_sum;
  return *this;
}

template <class Scalar>
void NormalEquations<Scalar>::scale(ConstVectorRef<Scalar> feature_factors,
                                    ConstVectorRef<Scalar> target_factors) {
  gram.scale(feature_factors);
  cross = feature_factors.asDiagonal() * cross * target_factors.asDiagonal();
  feature_sum.array() *= feature_factors.array();
  target_sum.array() *= target_factors.array();
  target_gram = target_factors.asDiagonal() * target_gram * target_factors.asDiagonal();
}

template <class Scalar>
NormalEquations<Scalar> NormalEquations<Scalar>::project(const Matrix<Scalar>& p,
                                                         ThreadPool& pool) const {
  const blas::SingleThreaded single_threaded;
  NormalEquations result(p.cols(), targets());
  const Matrix<Scalar> gram_p = gram.multiply(p, pool);
  Matrix<Scalar> small(p.cols(), p.cols());
  blas::multiply<Scalar>(true, false, p.cols(), p.cols(), p.rows(), 1, p.data(), p.rows(),
                         gram_p.data(), p.rows(), 0, small.data(), p.cols());
  result.gram = SymmetricTiles<Scalar>(small);
  result.cross.noalias() = p.transpose() * cross;
  result.feature_sum.noalias() = p.transpose() * feature_sum;
  result.target_sum = target_sum;
  result.target_gram = target_gram;
  result.weight_sum = weight_sum;
  return result;
}

template <class Scalar>
double NormalEquations<Scalar>::energy(bool centred) const {
  double sum = gram.diagonal().template cast<double>().sum();
  if (centred && weight_sum > 0)
    sum -= feature_sum.template cast<double>().squaredNorm() / static_cast<double>(weight_sum);
  return sum;
}

template struct NormalEquations<float>;
template struct NormalEquations<double>;

}  // namespace sdm::linear
