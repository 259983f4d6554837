#pragma once

#include <Eigen/Core>

namespace sdm {

using Index = Eigen::Index;

template <class Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

/// Samples stand in columns everywhere, so that one sample is contiguous in memory.
template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

template <class Scalar>
using ConstVectorRef = const Eigen::Ref<const Vector<Scalar>>&;
template <class Scalar>
using VectorRef = Eigen::Ref<Vector<Scalar>>;
template <class Scalar>
using ConstMatrixRef = const Eigen::Ref<const Matrix<Scalar>>&;

}  // namespace sdm
