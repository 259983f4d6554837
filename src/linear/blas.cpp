#include "linear/blas.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#ifdef SDM_HAVE_OPENBLAS
#include <cblas.h>

#include <cstddef>
#include <mutex>
#include <new>

extern "C" {
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void ssyevd_(const char* jobz, const char* uplo, const int* n, float* a, const int* lda, float* w,
             float* work, const int* lwork, int* iwork, const int* liwork, int* info);
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info);
}
#else
#include <Eigen/Eigenvalues>
#endif

#include "sdm/base/error.h"

namespace sdm::linear::blas {

#ifdef SDM_HAVE_OPENBLAS

namespace {
std::mutex mutex;
int living = 0, threads_before = 1;  // guarded by the mutex

// OpenBLAS takes a buffer of 128 MB when a thread first calls it, and where it gets none it asks
// again for ever. So we ask before it does; once, since sanitizers mark every byte.
void require_memory() {
  thread_local bool is_there = false;
  if (is_there) return;
  constexpr std::size_t kBuffer = std::size_t{160} << 20;
  ::operator delete(::operator new(kBuffer));
  is_there = true;
}
}  // namespace

SingleThreaded::SingleThreaded() {
  require_memory();
  const std::lock_guard lock(mutex);
  if (living++ > 0) return;
  threads_before = openblas_get_num_threads();
  openblas_set_num_threads(1);
}

SingleThreaded::~SingleThreaded() {
  const std::lock_guard lock(mutex);
  if (--living == 0) openblas_set_num_threads(threads_before);
}

template <class Scalar>
void multiply(bool transpose_a, bool transpose_b, Index rows, Index cols, Index inner, Scalar alpha,
              const Scalar* a, Index lda, const Scalar* b, Index ldb, Scalar beta, Scalar* c,
              Index ldc) {
  const auto ta = transpose_a ? CblasTrans : CblasNoTrans;
  const auto tb = transpose_b ? CblasTrans : CblasNoTrans;
  const auto m = static_cast<int>(rows), n = static_cast<int>(cols), k = static_cast<int>(inner);
  if (m == 0 || n == 0) return;
  // A leading dimension of 0 (an empty sum) is an error to BLAS.
  const auto la = std::max(1, static_cast<int>(lda)), lb = std::max(1, static_cast<int>(ldb));
  const auto lc = static_cast<int>(ldc);
  if constexpr (std::is_same_v<Scalar, float>)
    cblas_sgemm(CblasColMajor, ta, tb, m, n, k, alpha, a, la, b, lb, beta, c, lc);
  else
    cblas_dgemm(CblasColMajor, ta, tb, m, n, k, alpha, a, la, b, lb, beta, c, lc);
}

template <class Scalar>
Index cholesky(Index size, Scalar* a, Index lda) {
  const int n = static_cast<int>(size), la = static_cast<int>(lda);
  int info = 0;
  if constexpr (std::is_same_v<Scalar, float>)
    spotrf_("L", &n, a, &la, &info);
  else
    dpotrf_("L", &n, a, &la, &info);
  // OpenBLAS takes a NaN or an infinity for a good pivot.
  const Index done = info > 0 ? info - 1 : size;
  for (Index i = 0; i < done; ++i)
    if (!std::isfinite(a[i * lda + i])) return i + 1;
  return info;
}

template <class Scalar>
void solve_right_transposed(Index rows, Index size, const Scalar* lower, Index ldl, Scalar* b,
                            Index ldb) {
  const int m = static_cast<int>(rows), n = static_cast<int>(size);
  const int ll = static_cast<int>(ldl), lb = static_cast<int>(ldb);
  if constexpr (std::is_same_v<Scalar, float>)
    cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1.0F, lower,
                ll, b, lb);
  else
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1.0, lower,
                ll, b, lb);
}

template <class Scalar>
void solve_left(bool transposed, Index size, Index cols, const Scalar* lower, Index ldl, Scalar* b,
                Index ldb) {
  const auto t = transposed ? CblasTrans : CblasNoTrans;
  const int m = static_cast<int>(size), n = static_cast<int>(cols);
  const int ll = static_cast<int>(ldl), lb = static_cast<int>(ldb);
  if constexpr (std::is_same_v<Scalar, float>)
    cblas_strsm(CblasColMajor, CblasLeft, CblasLower, t, CblasNonUnit, m, n, 1.0F, lower, ll, b,
                lb);
  else
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, t, CblasNonUnit, m, n, 1.0, lower, ll, b, lb);
}

template <class Scalar>
void eigen_symmetric(Matrix<Scalar>& matrix_to_vectors, Vector<Scalar>& values) {
  const int n = static_cast<int>(matrix_to_vectors.rows());
  values.resize(n);
  if (n == 0) return;
  // The documented sizes of the work space. A query would answer in a Scalar, and a float cannot
  // hold the size for a few thousand rows.
  const int lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n;
  std::vector<Scalar> work(static_cast<std::size_t>(lwork));
  std::vector<int> iwork(static_cast<std::size_t>(liwork));
  int info = 0;
  if constexpr (std::is_same_v<Scalar, float>)
    ssyevd_("V", "L", &n, matrix_to_vectors.data(), &n, values.data(), work.data(), &lwork,
            iwork.data(), &liwork, &info);
  else
    dsyevd_("V", "L", &n, matrix_to_vectors.data(), &n, values.data(), work.data(), &lwork,
            iwork.data(), &liwork, &info);
  if (info != 0) throw Error("the eigenvalues of a symmetric matrix did not converge");
}

#else

namespace {
template <class Scalar>
using View = Eigen::Map<Matrix<Scalar>, 0, Eigen::OuterStride<>>;
template <class Scalar>
using ConstView = Eigen::Map<const Matrix<Scalar>, 0, Eigen::OuterStride<>>;
}  // namespace

SingleThreaded::SingleThreaded() = default;
SingleThreaded::~SingleThreaded() = default;

template <class Scalar>
void multiply(bool transpose_a, bool transpose_b, Index rows, Index cols, Index inner, Scalar alpha,
              const Scalar* a, Index lda, const Scalar* b, Index ldb, Scalar beta, Scalar* c,
              Index ldc) {
  const ConstView<Scalar> left(a, transpose_a ? inner : rows, transpose_a ? rows : inner,
                               Eigen::OuterStride<>(lda));
  const ConstView<Scalar> right(b, transpose_b ? cols : inner, transpose_b ? inner : cols,
                                Eigen::OuterStride<>(ldb));
  View<Scalar> out(c, rows, cols, Eigen::OuterStride<>(ldc));
  if (beta == Scalar(0)) {
    out.setZero();
  } else if (beta != Scalar(1)) {
    out *= beta;
  }
  if (transpose_a && transpose_b) {
    out.noalias() += alpha * left.transpose() * right.transpose();
  } else if (transpose_a) {
    out.noalias() += alpha * left.transpose() * right;
  } else if (transpose_b) {
    out.noalias() += alpha * left * right.transpose();
  } else {
    out.noalias() += alpha * left * right;
  }
}

template <class Scalar>
Index cholesky(Index size, Scalar* a, Index lda) {
  View<Scalar> matrix(a, size, size, Eigen::OuterStride<>(lda));
  for (Index j = 0; j < size; ++j) {
    // Left-looking by columns: the tiles are small, and the first bad pivot is wanted by index.
    if (j > 0)
      matrix.col(j).tail(size - j).noalias() -=
          matrix.block(j, 0, size - j, j) * matrix.row(j).head(j).transpose();
    const Scalar pivot = matrix(j, j);
    if (!(pivot > Scalar(0)) || !std::isfinite(pivot)) return j + 1;
    matrix.col(j).tail(size - j) /= std::sqrt(pivot);
  }
  return 0;
}

template <class Scalar>
void solve_right_transposed(Index rows, Index size, const Scalar* lower, Index ldl, Scalar* b,
                            Index ldb) {
  const ConstView<Scalar> l(lower, size, size, Eigen::OuterStride<>(ldl));
  View<Scalar> out(b, rows, size, Eigen::OuterStride<>(ldb));
  l.transpose().template triangularView<Eigen::Upper>().template solveInPlace<Eigen::OnTheRight>(
      out);
}

template <class Scalar>
void solve_left(bool transposed, Index size, Index cols, const Scalar* lower, Index ldl, Scalar* b,
                Index ldb) {
  const ConstView<Scalar> l(lower, size, size, Eigen::OuterStride<>(ldl));
  View<Scalar> out(b, size, cols, Eigen::OuterStride<>(ldb));
  if (transposed)
    l.transpose().template triangularView<Eigen::Upper>().solveInPlace(out);
  else
    l.template triangularView<Eigen::Lower>().solveInPlace(out);
}

template <class Scalar>
void eigen_symmetric(Matrix<Scalar>& matrix_to_vectors, Vector<Scalar>& values) {
  values.resize(matrix_to_vectors.rows());
  if (values.size() == 0) return;
  const Eigen::SelfAdjointEigenSolver<Matrix<Scalar>> solver(matrix_to_vectors);
  if (solver.info() != Eigen::Success)
    throw Error("the eigenvalues of a symmetric matrix did not converge");
  values = solver.eigenvalues();
  matrix_to_vectors = solver.eigenvectors();
}

#endif

#define SDM_INSTANTIATE(Scalar)                                                             \
  template void multiply(bool, bool, Index, Index, Index, Scalar, const Scalar*, Index,     \
                         const Scalar*, Index, Scalar, Scalar*, Index);                     \
  template Index cholesky(Index, Scalar*, Index);                                           \
  template void solve_right_transposed(Index, Index, const Scalar*, Index, Scalar*, Index); \
  template void solve_left(bool, Index, Index, const Scalar*, Index, Scalar*, Index);       \
  template void eigen_symmetric(Matrix<Scalar>&, Vector<Scalar>&);
SDM_INSTANTIATE(float)
SDM_INSTANTIATE(double)
#undef SDM_INSTANTIATE

}  // namespace sdm::linear::blas
