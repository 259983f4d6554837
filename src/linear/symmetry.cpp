#include "sdm/linear/symmetry.h"

#include <cmath>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm {

MirrorBasis::MirrorBasis(const SignedPermutation& symmetry) {
  const Index n = symmetry.size();
  if (!symmetry.sign.empty() && static_cast<Index>(symmetry.sign.size()) != n)
    throw Error(formatted("the symmetry has {} signs, expected {}", symmetry.sign.size(), n));
  const auto partner = [&](Index i) { return symmetry.partner[static_cast<std::size_t>(i)]; };
  const auto sign = [&](Index i) {
    return symmetry.sign.empty() ? 1 : static_cast<int>(symmetry.sign[static_cast<std::size_t>(i)]);
  };
  std::vector<Pair> odd;
  const double half = std::sqrt(0.5);
  for (Index i = 0; i < n; ++i) {
    const Index j = partner(i);
    if (j < 0 || j >= n || partner(j) != i || sign(i) != sign(j) || std::abs(sign(i)) != 1)
      throw Error(
          formatted("the symmetry maps coordinate {} to {}, which does not map back", i, j));
    if (j == i) {
      (sign(i) > 0 ? pairs_ : odd).push_back({i, i, 1, 0});
    } else if (i < j) {
      pairs_.push_back({i, j, half, sign(i) * half});
      odd.push_back({i, j, half, -sign(i) * half});
    }
  }
  even_ = static_cast<Index>(pairs_.size());
  pairs_.insert(pairs_.end(), odd.begin(), odd.end());
}

template <class Scalar>
void MirrorBasis::forward(ConstMatrixRef<Scalar> values, Eigen::Ref<Matrix<Scalar>> out) const {
  for (Index c = 0; c < values.cols(); ++c) {
    for (Index k = 0; k < size(); ++k) {
      const Pair& p = pairs_[static_cast<std::size_t>(k)];
      out(k, c) = static_cast<Scalar>(p.a) * values(p.first, c) +
                  static_cast<Scalar>(p.b) * values(p.second, c);
    }
  }
}

template <class Scalar>
void MirrorBasis::backward(ConstMatrixRef<Scalar> values, Eigen::Ref<Matrix<Scalar>> out) const {
  out.setZero();
  for (Index c = 0; c < values.cols(); ++c) {
    for (Index k = 0; k < size(); ++k) {
      const Pair& p = pairs_[static_cast<std::size_t>(k)];
      out(p.first, c) += static_cast<Scalar>(p.a) * values(k, c);
      out(p.second, c) += static_cast<Scalar>(p.b) * values(k, c);
    }
  }
}

#define SDM_INSTANTIATE(Scalar)                                                                   \
  template void MirrorBasis::forward<Scalar>(ConstMatrixRef<Scalar>, Eigen::Ref<Matrix<Scalar>>)  \
      const;                                                                                      \
  template void MirrorBasis::backward<Scalar>(ConstMatrixRef<Scalar>, Eigen::Ref<Matrix<Scalar>>) \
      const;
SDM_INSTANTIATE(float)
SDM_INSTANTIATE(double)
#undef SDM_INSTANTIATE

}  // namespace sdm
