#pragma once

#include <algorithm>

namespace sdm::face {

/// What a sample that is `error` units off weighs in training: samples farther off than `robust`
/// count less, as robust / error; with 0 all count the same.
inline double robust_weight(double error, double robust) {
  if (robust == 0) return 1;
  // Beyond half a unit the start had lost the face.
  return error > 0.5 ? 1e-4 : std::min(1.0, robust / error);
}

}  // namespace sdm::face
