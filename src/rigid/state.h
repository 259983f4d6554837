#pragma once

#include "sdm/rigid/motion.h"

namespace sdm::rigid {

/// A warp as the trainer sees a state: its nine entries, column by column.
inline constexpr Index kStateSize = 9;
using StateVector = Eigen::Matrix<float, kStateSize, 1>;

inline Warp to_warp(ConstVectorRef<float> state) {
  return Eigen::Map<const Eigen::Matrix3f>(state.data()).cast<double>();
}

inline StateVector to_state(const Warp& warp) { return warp.cast<float>().reshaped(); }

}  // namespace sdm::rigid
