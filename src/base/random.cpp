#include "sdm/base/random.h"

#include <cmath>
#include <numbers>

#include "base/hash.h"

namespace sdm {
namespace {

// FNV's last bytes reach few bits; this spreads them (the finaliser of MurmurHash3).
std::uint64_t spread(std::uint64_t bits) {
  bits = (bits ^ (bits >> 33)) * 0xff51afd7ed558ccdull;
  bits = (bits ^ (bits >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return bits ^ (bits >> 33);
}

std::uint64_t stream_of(std::uint64_t seed, std::string_view purpose, std::uint64_t index) {
  Hash hash;
  hash.add(seed);
  hash.add(purpose.data(), purpose.size());
  hash.add(index);
  return spread(hash.value());
}

/// Stirling's series; std::lgamma writes to a global.
double log_gamma(double x) {
  double below = 0;
  for (; x < 12; ++x) below -= std::log(x);
  const double inverse = 1 / x, square = inverse * inverse;
  return below + (x - 0.5) * std::log(x) - x + 0.5 * std::log(2 * std::numbers::pi) +
         inverse * (1. / 12 - square * (1. / 360 - square / 1260));
}

}  // namespace

Random::Random(std::uint64_t seed, std::string_view purpose, std::uint64_t index)
    : engine_(stream_of(seed, purpose, index)) {}

double Random::normal() {
  // Box and Muller; one of the pair is left, so that every number costs the same two draws.
  const double radius = std::sqrt(-2 * std::log1p(-uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double Random::poisson(double mean) {
  if (std::isnan(mean) || std::isinf(mean)) return mean > 0 ? mean : 0;
  if (!(mean > 0)) return 0;
  // So many that rounding, not chance, would decide below.
  if (mean > 1e10) return std::floor(mean + std::sqrt(mean) * normal() + 0.5);
  if (mean < 12) {
    // Multiplied waiting times.
    const double least = std::exp(-mean);
    double product = uniform();
    double count = 0;
    for (; product > least; ++count) product *= uniform();
    return count;
  }
  // Rejection from a Lorentz curve (Ahrens and Dieter; Press et al., section 7.3).
  const double width = std::sqrt(2 * mean), log_mean = std::log(mean);
  const double level = mean * log_mean - log_gamma(mean + 1);
  while (true) {
    const double slope = std::tan(std::numbers::pi * uniform());
    const double count = std::floor(width * slope + mean);
    const double accepted = uniform();
    if (count >= 0 && accepted <= 0.9 * (1 + slope * slope) *
                                      std::exp(count * log_mean - log_gamma(count + 1) - level))
      return count;
  }
}

std::uint64_t Random::below(std::uint64_t count) {
  // The few largest draws that would favour small numbers are drawn again.
  const std::uint64_t most = ~std::uint64_t{0} - ~std::uint64_t{0} % count;
  std::uint64_t drawn = engine_();
  while (drawn >= most) drawn = engine_();
  return drawn % count;
}

}  // namespace sdm
