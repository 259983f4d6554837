#include "sdm/linear/components.h"

#include <Eigen/QR>

#include "linear/blas.h"
#include "sdm/base/random.h"

namespace sdm::linear {
namespace {

template <class Scalar>
Matrix<Scalar> orthonormal(const Matrix<Scalar>& columns) {
  const Eigen::HouseholderQR<Matrix<Scalar>> qr(columns);
  return qr.householderQ() * Matrix<Scalar>::Identity(columns.rows(), columns.cols());
}

// The fewest leading columns that keep the energy, from eigenvalues in ascending order.
template <class Scalar>
Matrix<Scalar> leading(const Matrix<Scalar>& vectors, const Vector<Scalar>& ascending,
                       double energy, double total) {
  Index kept = 0;
  double sum = 0;
  while (kept < ascending.size() && (kept == 0 || sum < energy * total))
    sum += static_cast<double>(ascending[ascending.size() - ++kept]);
  return vectors.rightCols(kept).rowwise().reverse();
}

}  // namespace

template <class Scalar>
Matrix<Scalar> principal_components(const NormalEquations<Scalar>& equations, double energy,
                                    bool centred, Random& random, ThreadPool& pool) {
  const blas::SingleThreaded single_threaded;
  constexpr Index kDense = 1024;  // below this a full decomposition is as quick
  constexpr int kPowerSteps = 3;
  SymmetricTiles<Scalar> gram = equations.gram;
  if (centred && equations.weight_sum > 0)
    gram.add_outer(Scalar(-1) / equations.weight_sum, equations.feature_sum);
  const double total = gram.diagonal().template cast<double>().sum();
  const Index size = gram.size();

  if (size <= kDense) {
    Matrix<Scalar> vectors = gram.dense();
    Vector<Scalar> values;
    blas::eigen_symmetric(vectors, values);
    return leading(vectors, values, energy, total);
  }

  for (Index block = 128;; block = std::min(2 * block, size)) {
    Matrix<Scalar> q(size, block);
    for (Index c = 0; c < block; ++c)
      for (Index r = 0; r < size; ++r) q(r, c) = static_cast<Scalar>(random.normal());
    for (int i = 0; i < kPowerSteps; ++i) q = orthonormal<Scalar>(gram.multiply(q, pool));
    const Matrix<Scalar> gram_q = gram.multiply(q, pool);
    Matrix<Scalar> small(block, block);
    blas::multiply<Scalar>(true, false, block, block, size, 1, q.data(), size, gram_q.data(), size,
                           0, small.data(), block);
    Vector<Scalar> values;
    blas::eigen_symmetric(small, values);
    if (static_cast<double>(values.sum()) >= energy * total || block == size)
      return leading<Scalar>(q * small, values, energy, total);
  }
}

template <class Scalar>
Matrix<Scalar> sample_span(ConstMatrixRef<Scalar> samples, bool centred) {
  if (!centred) return orthonormal<Scalar>(samples);
  return orthonormal<Scalar>(samples.rightCols(samples.cols() - 1).colwise() - samples.col(0));
}

#define SDM_INSTANTIATE(Scalar)                                                              \
  template Matrix<Scalar> principal_components(const NormalEquations<Scalar>&, double, bool, \
                                               Random&, ThreadPool&);                        \
  template Matrix<Scalar> sample_span(ConstMatrixRef<Scalar>, bool);
SDM_INSTANTIATE(float)
SDM_INSTANTIATE(double)
#undef SDM_INSTANTIATE

}  // namespace sdm::linear
