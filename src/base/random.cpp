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

}  // namespace

Random::Random(std::uint64_t seed, std::string_view purpose, std::uint64_t index)
    : engine_(stream_of(seed, purpose, index)) {}

double Random::normal() {
  // Box and Muller; one of the pair is left, so that every number costs the same two draws.
  const double radius = std::sqrt(-2 * std::log1p(-uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

std::size_t Random::below(std::size_t count) {
  // The few largest draws that would favour small numbers are drawn again.
  const std::uint64_t most = ~std::uint64_t{0} - ~std::uint64_t{0} % count;
  std::uint64_t drawn = engine_();
  while (drawn >= most) drawn = engine_();
  return static_cast<std::size_t>(drawn % count);
}

}  // namespace sdm
