#pragma once

#include <utility>
#include <vector>

#include "sdm/base/types.h"

namespace sdm {

/// An involution that permutes coordinates and may flip their sign: (S v)[i] = sign[i]
/// v[partner[i]]. A mirrored face permutes points, cells and orientation bins and flips horizontal
/// deltas.
struct SignedPermutation {
  std::vector<Index> partner;
  std::vector<signed char> sign;  // +1 or -1; empty means all +1

  Index size() const { return static_cast<Index>(partner.size()); }
  bool empty() const { return partner.empty(); }
};

/// If sample (features f, delta d) is possible then so is (S_f f, S_d d). Training then counts
/// every sample's mirror image too, at half the cost of the plain way: in the basis of sums and
/// differences the Gram matrix splits into two blocks.
struct Symmetry {
  SignedPermutation features;
  SignedPermutation deltas;

  bool empty() const { return features.empty(); }
};

/// The orthonormal basis in which a signed permutation is diagonal: first the even coordinates
/// (unchanged by the symmetry), then the odd ones (negated).
/// Throws Error if the permutation is not an involution.
class MirrorBasis {
 public:
  MirrorBasis() = default;
  explicit MirrorBasis(const SignedPermutation& symmetry);

  Index even_size() const { return even_; }
  Index size() const { return static_cast<Index>(pairs_.size()); }

  /// The coordinates that basis vector k is made of: partners, or twice the same one.
  std::pair<Index, Index> coordinates(Index k) const {
    const Pair& pair = pairs_[static_cast<std::size_t>(k)];
    return {pair.first, pair.second};
  }

  /// Coordinates of each column in the basis, and back. In place is not allowed.
  template <class Scalar>
  void forward(ConstMatrixRef<Scalar> values, Eigen::Ref<Matrix<Scalar>> out) const;
  template <class Scalar>
  void backward(ConstMatrixRef<Scalar> values, Eigen::Ref<Matrix<Scalar>> out) const;

 private:
  // Basis vector k is a e_first + b e_second, or e_first alone where b is zero.
  struct Pair {
    Index first, second;
    double a, b;
  };
  std::vector<Pair> pairs_;
  Index even_ = 0;
};

}  // namespace sdm
