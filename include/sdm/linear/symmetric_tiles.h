#pragma once

#include <algorithm>
#include <vector>

#include "sdm/base/thread_pool.h"
#include "sdm/base/types.h"

namespace sdm::linear {

/// A symmetric matrix of which only the lower triangle of square tiles is stored: half the memory
/// of a full one, and each tile is one unit of parallel work. Every tile is always computed by the
/// same calls, so results do not depend on the number of threads.
template <class Scalar>
class SymmetricTiles {
 public:
  static constexpr Index kTile = 512;

  SymmetricTiles() = default;
  explicit SymmetricTiles(Index size);
  /// From the lower triangle of a full matrix.
  explicit SymmetricTiles(const Matrix<Scalar>& full);

  Index size() const { return size_; }
  static double bytes(Index size);

  /// this += columns * columns^T.
  void add_outer(ConstMatrixRef<Scalar> columns, ThreadPool& pool);
  /// this += factor * v v^T.
  void add_outer(Scalar factor, ConstVectorRef<Scalar> v);
  void add_to_diagonal(Scalar value);
  /// this <- D this D, with D = diag(factors).
  void scale(ConstVectorRef<Scalar> factors);
  SymmetricTiles& operator+=(const SymmetricTiles& other);

  Vector<Scalar> diagonal() const;
  Matrix<Scalar> dense() const;
  /// this * right.
  Matrix<Scalar> multiply(ConstMatrixRef<Scalar> right, ThreadPool& pool) const;

  /// Replaces this by its Cholesky factor L. Gives -1, or the row of the first pivot that is not
  /// positive; this is then garbage.
  Index factorise(ThreadPool& pool);
  /// After factorise: right <- (L L^T)^-1 right.
  void solve(Matrix<Scalar>& right, ThreadPool& pool) const;

  /// The stored numbers, for sums over ranks.
  std::vector<Scalar>& data() { return data_; }
  const std::vector<Scalar>& data() const { return data_; }

 private:
  Index tiles() const { return (size_ + kTile - 1) / kTile; }
  Index rows(Index i) const { return std::min(kTile, size_ - i * kTile); }
  Scalar* tile(Index i, Index j);
  const Scalar* tile(Index i, Index j) const;

  Index size_ = 0;
  std::vector<Index>
      offset_;  // of tile (i, j <= i) at i(i+1)/2 + j; tile (i, j) has rows(i) x rows(j)
  std::vector<Scalar> data_;
};

}  // namespace sdm::linear
