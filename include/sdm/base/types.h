#pragma once

#include <Eigen/Core>

// What Eigen allocates and how it aligns follows the compiler's flags (-mavx, -march=native) unless
// it is told. The library and whoever links it hand matrices to each other, so both are told the
// same.
static_assert(EIGEN_DEFAULT_ALIGN_BYTES == 64 && EIGEN_MAX_STATIC_ALIGN_BYTES == 16 &&
                  !EIGEN_MALLOC_ALREADY_ALIGNED,
              "sdm: compile with -DEIGEN_MAX_ALIGN_BYTES=64 -DEIGEN_MAX_STATIC_ALIGN_BYTES=16, as "
              "the library was, in every file that uses Eigen; CMake's sdm:: targets and "
              "`pkg-config --cflags sdm` give both");

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
