#include "sdm/linear/symmetric_tiles.h"

#include <utility>

#include "linear/blas.h"

namespace sdm::linear {

namespace {

template <class Scalar>
using View = Eigen::Map<Matrix<Scalar>>;
template <class Scalar>
using ConstView = Eigen::Map<const Matrix<Scalar>>;

// The k-th pair (i, j), j <= i, of a lower triangle.
std::pair<Index, Index> lower_pair(Index k) {
  Index i = 0;
  while ((i + 1) * (i + 2) / 2 <= k) ++i;
  return {i, k - i * (i + 1) / 2};
}

}  // namespace

template <class Scalar>
SymmetricTiles<Scalar>::SymmetricTiles(Index size) : size_(size) {
  Index total = 0;
  for (Index i = 0; i < tiles(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      offset_.push_back(total);
      total += rows(i) * rows(j);
    }
  }
  data_.assign(static_cast<std::size_t>(total), Scalar(0));
}

template <class Scalar>
SymmetricTiles<Scalar>::SymmetricTiles(const Matrix<Scalar>& full) : SymmetricTiles(full.rows()) {
  for (Index i = 0; i < tiles(); ++i) {
    for (Index j = 0; j < i; ++j)
      View<Scalar>(tile(i, j), rows(i), rows(j)) =
          full.block(i * kTile, j * kTile, rows(i), rows(j));
    View<Scalar>(tile(i, i), rows(i), rows(i)) =
        full.block(i * kTile, i * kTile, rows(i), rows(i)).template selfadjointView<Eigen::Lower>();
  }
}

template <class Scalar>
double SymmetricTiles<Scalar>::bytes(Index size) {
  const double n = static_cast<double>(size);
  return sizeof(Scalar) * (n * n + n * static_cast<double>(std::min(size, kTile))) / 2;
}

template <class Scalar>
Scalar* SymmetricTiles<Scalar>::tile(Index i, Index j) {
  return data_.data() + offset_[static_cast<std::size_t>(i * (i + 1) / 2 + j)];
}

template <class Scalar>
const Scalar* SymmetricTiles<Scalar>::tile(Index i, Index j) const {
  return data_.data() + offset_[static_cast<std::size_t>(i * (i + 1) / 2 + j)];
}

template <class Scalar>
void SymmetricTiles<Scalar>::add_outer(ConstMatrixRef<Scalar> columns, ThreadPool& pool) {
  const blas::SingleThreaded single_threaded;
  const Index ld = columns.outerStride();
  pool.run(static_cast<Index>(offset_.size()), [&](Index k, int) {
    const auto [i, j] = lower_pair(k);
    blas::multiply<Scalar>(false, true, rows(i), rows(j), columns.cols(), 1,
                           columns.data() + i * kTile, ld, columns.data() + j * kTile, ld, 1,
                           tile(i, j), rows(i));
  });
}

template <class Scalar>
void SymmetricTiles<Scalar>::add_outer(Scalar factor, ConstVectorRef<Scalar> v) {
  for (Index i = 0; i < tiles(); ++i)
    for (Index j = 0; j <= i; ++j)
      View<Scalar>(tile(i, j), rows(i), rows(j)).noalias() +=
          factor * v.segment(i * kTile, rows(i)) * v.segment(j * kTile, rows(j)).transpose();
}

template <class Scalar>
void SymmetricTiles<Scalar>::add_to_diagonal(Scalar value) {
  for (Index i = 0; i < tiles(); ++i)
    View<Scalar>(tile(i, i), rows(i), rows(i)).diagonal().array() += value;
}

template <class Scalar>
void SymmetricTiles<Scalar>::scale(ConstVectorRef<Scalar> factors) {
  for (Index i = 0; i < tiles(); ++i)
    for (Index j = 0; j <= i; ++j) {
      View<Scalar> block(tile(i, j), rows(i), rows(j));
      block = factors.segment(i * kTile, rows(i)).asDiagonal() * block *
              factors.segment(j * kTile, rows(j)).asDiagonal();
    }
}

template <class Scalar>
SymmetricTiles<Scalar>& SymmetricTiles<Scalar>::operator+=(const SymmetricTiles& other) {
  for (std::size_t k = 0; k < data_.size(); ++k) data_[k] += other.data_[k];
  return *this;
}

template <class Scalar>
Vector<Scalar> SymmetricTiles<Scalar>::diagonal() const {
  Vector<Scalar> result(size_);
  for (Index i = 0; i < tiles(); ++i)
    result.segment(i * kTile, rows(i)) = ConstView<Scalar>(tile(i, i), rows(i), rows(i)).diagonal();
  return result;
}

template <class Scalar>
Matrix<Scalar> SymmetricTiles<Scalar>::dense() const {
  Matrix<Scalar> result(size_, size_);
  for (Index i = 0; i < tiles(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      const ConstView<Scalar> block(tile(i, j), rows(i), rows(j));
      result.block(i * kTile, j * kTile, rows(i), rows(j)) = block;
      result.block(j * kTile, i * kTile, rows(j), rows(i)) = block.transpose();
    }
  }
  return result;
}

template <class Scalar>
Matrix<Scalar> SymmetricTiles<Scalar>::multiply(ConstMatrixRef<Scalar> right,
                                                ThreadPool& pool) const {
  const blas::SingleThreaded single_threaded;
  Matrix<Scalar> result(size_, right.cols());
  pool.run(tiles(), [&](Index i, int) {
    for (Index j = 0; j < tiles(); ++j) {
      const bool stored = j <= i;
      blas::multiply<Scalar>(!stored, false, rows(i), right.cols(), rows(j), 1,
                             stored ? tile(i, j) : tile(j, i), stored ? rows(i) : rows(j),
                             right.data() + j * kTile, right.outerStride(), j == 0 ? 0 : 1,
                             result.data() + i * kTile, size_);
    }
  });
  return result;
}

// Right-looking Cholesky by tiles: factor the diagonal tile, solve the column below it, update the
// triangle to its right. The column and the triangle are shared out among the threads.
template <class Scalar>
Index SymmetricTiles<Scalar>::factorise(ThreadPool& pool) {
  const blas::SingleThreaded single_threaded;
  const Index n = tiles();
  for (Index k = 0; k < n; ++k) {
    const Index bad = blas::cholesky(rows(k), tile(k, k), rows(k));
    if (bad != 0) return k * kTile + bad - 1;
    const Index below = n - k - 1;
    pool.run(below, [&](Index b, int) {
      const Index i = k + 1 + b;
      blas::solve_right_transposed(rows(i), rows(k), tile(k, k), rows(k), tile(i, k), rows(i));
    });
    pool.run(below * (below + 1) / 2, [&](Index t, int) {
      const auto [a, b] = lower_pair(t);
      const Index i = k + 1 + a, j = k + 1 + b;
      blas::multiply<Scalar>(false, true, rows(i), rows(j), rows(k), -1, tile(i, k), rows(i),
                             tile(j, k), rows(j), 1, tile(i, j), rows(i));
    });
  }
  return -1;
}

template <class Scalar>
void SymmetricTiles<Scalar>::solve(Matrix<Scalar>& right, ThreadPool& pool) const {
  const blas::SingleThreaded single_threaded;
  const Index n = tiles(), cols = right.cols(), ld = right.rows();
  const auto block = [&](Index i) { return right.data() + i * kTile; };
  for (Index k = 0; k < n; ++k) {
    blas::solve_left(false, rows(k), cols, tile(k, k), rows(k), block(k), ld);
    pool.run(n - k - 1, [&](Index b, int) {
      const Index i = k + 1 + b;
      blas::multiply<Scalar>(false, false, rows(i), cols, rows(k), -1, tile(i, k), rows(i),
                             block(k), ld, 1, block(i), ld);
    });
  }
  for (Index k = n - 1; k >= 0; --k) {
    blas::solve_left(true, rows(k), cols, tile(k, k), rows(k), block(k), ld);
    pool.run(k, [&](Index j, int) {
      blas::multiply<Scalar>(true, false, rows(j), cols, rows(k), -1, tile(k, j), rows(k), block(k),
                             ld, 1, block(j), ld);
    });
  }
}

template class SymmetricTiles<float>;
template class SymmetricTiles<double>;

}  // namespace sdm::linear
