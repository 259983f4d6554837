#pragma once

#include <cstdint>
#include <vector>

#include "sdm/base/types.h"

namespace sdm {

/// Points that fill a cube more evenly than random ones: Sobol's sequence with a random digital
/// shift. Along every axis, any 2^k points in a row from a multiple of 2^k on lie one in each of
/// the 2^k equal intervals. The direction numbers beyond the primitive polynomials are drawn from
/// the seed, so no table is needed for any number of axes.
class Sobol {
 public:
  /// Throws Error on fewer than one axis.
  Sobol(Index axes, std::uint64_t seed);

  /// The next point, each value in [0, 1).
  void next(VectorRef<double> point);

 private:
  static constexpr int kBits = 52;
  std::vector<std::uint64_t> directions_;  // kBits for each axis
  std::vector<std::uint64_t> state_;       // starts at the shift
  std::uint64_t count_ = 0;
};

}  // namespace sdm
