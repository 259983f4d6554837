#pragma once

#include "sdm/base/types.h"

// The few dense kernels that training spends its time in: OpenBLAS where it was built in, Eigen
// otherwise. Whoever calls them holds a SingleThreaded, so that a call runs on the calling thread
// alone: parallelism is over calls of fixed shape, and the bits do not depend on the number of
// threads.
namespace sdm::linear::blas {

/// Holds OpenBLAS, which has one number of threads for the whole process, to one thread while any
/// of these live; the last one gives back the number that the first one found.
class SingleThreaded {
 public:
  SingleThreaded();
  ~SingleThreaded();
  SingleThreaded(const SingleThreaded&) = delete;
  SingleThreaded& operator=(const SingleThreaded&) = delete;
};

/// c (rows x cols) = beta c + alpha op(a) op(b); all column-major with leading dimensions.
template <class Scalar>
void multiply(bool transpose_a, bool transpose_b, Index rows, Index cols, Index inner, Scalar alpha,
              const Scalar* a, Index lda, const Scalar* b, Index ldb, Scalar beta, Scalar* c,
              Index ldc);

/// Lower Cholesky factor of a in place. Gives 0, or 1 + the index of the first bad pivot.
template <class Scalar>
Index cholesky(Index size, Scalar* a, Index lda);

/// b (rows x size) <- b L^-T, with L lower triangular.
template <class Scalar>
void solve_right_transposed(Index rows, Index size, const Scalar* lower, Index ldl, Scalar* b,
                            Index ldb);

/// b (size x cols) <- L^-1 b or L^-T b.
template <class Scalar>
void solve_left(bool transposed, Index size, Index cols, const Scalar* lower, Index ldl, Scalar* b,
                Index ldb);

/// Eigenvalues in ascending order and eigenvectors of a symmetric matrix (its lower triangle).
template <class Scalar>
void eigen_symmetric(Matrix<Scalar>& matrix_to_vectors, Vector<Scalar>& values);

}  // namespace sdm::linear::blas
