#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>

namespace sdm {

/// The one source of random numbers. A stream belongs to a seed, a purpose ("folds") and an index
/// (a sample's number); these are hashed, so neighbouring seeds, purposes and indices share
/// nothing, and a sample's numbers do not depend on which samples were drawn before it.
///
/// The same bits with every standard library: the engine is fixed by the C++ standard, and the
/// distributions, which are not, are written here. Normal numbers agree up to the last bits of the
/// mathematical library's log and cos.
class Random {
 public:
  Random(std::uint64_t seed, std::string_view purpose, std::uint64_t index = 0);

  /// Even on [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  /// Even on [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Mean 0, deviation 1.
  double normal();
  /// A count of events of which `mean` are expected; 0 where the mean is not above 0, infinite
  /// where it is.
  double poisson(double mean);
  /// Even on 0 to count - 1. Needs a count above 0.
  std::uint64_t below(std::uint64_t count);
  /// -1 or 1.
  double sign() { return below(2) == 0 ? -1 : 1; }

 private:
  std::mt19937_64 engine_;
};

/// The values in another order; every order is as likely.
template <class Values>
void shuffle(Values& values, Random& random) {
  using std::swap;
  for (std::size_t i = values.size(); i > 1; --i) swap(values[i - 1], values[random.below(i)]);
}

}  // namespace sdm
