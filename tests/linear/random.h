#pragma once

#include <random>

#include "sdm/base/types.h"

namespace sdm {

/// Normal numbers from a seed, so that a failing test fails again.
template <class Scalar>
Matrix<Scalar> random_matrix(Index rows, Index cols, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Matrix<Scalar> result(rows, cols);
  for (Index c = 0; c < cols; ++c)
    for (Index r = 0; r < rows; ++r) result(r, c) = static_cast<Scalar>(normal(random));
  return result;
}

template <class Scalar>
Vector<Scalar> random_vector(Index size, unsigned seed) {
  return random_matrix<Scalar>(size, 1, seed);
}

/// |a - b| relative to |b|.
template <class A, class B>
double relative_gap(const A& a, const B& b) {
  const Matrix<double> wide_a = a.template cast<double>(), wide_b = b.template cast<double>();
  return (wide_a - wide_b).norm() / (wide_b.norm() + 1e-300);
}

}  // namespace sdm
