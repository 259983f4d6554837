#include "sdm/base/sobol.h"

#include <bit>
#include <string>

#include "sdm/base/error.h"
#include "sdm/base/random.h"

namespace sdm {
namespace {

/// Whether a polynomial over GF(2), its bits the coefficients, is primitive: x generates all
/// 2^degree - 1 non-zero residues.
bool is_primitive(std::uint64_t polynomial) {
  const int degree = std::bit_width(polynomial) - 1;
  const std::uint64_t top = std::uint64_t{1} << degree;
  std::uint64_t value = 1;
  for (std::uint64_t power = 1; power < top; ++power) {
    value <<= 1;
    if (value & top) value ^= polynomial;
    if (value == 1) return power == top - 1;
  }
  return degree == 0;
}

}  // namespace

Sobol::Sobol(Index axes, std::uint64_t seed) {
  if (axes < 1)
    throw Error("a Sobol sequence of " + std::to_string(axes) + " axes, expected at least one");
  std::uint64_t polynomial = 1;  // of the first axis: van der Corput's sequence
  for (Index axis = 0; axis < axes; ++axis) {
    Random random(seed, "sobol", static_cast<std::uint64_t>(axis));
    const int degree = std::bit_width(polynomial) - 1;
    std::uint64_t m[kBits];  // odd, below 2^(k+1)
    for (int k = 0; k < kBits; ++k) {
      if (axis == 0) {
        m[k] = 1;
      } else if (k < degree) {
        m[k] = 2 * random.below(std::uint64_t{1} << k) + 1;
      } else {
        m[k] = m[k - degree] ^ (m[k - degree] << degree);
        for (int i = 1; i < degree; ++i)
          if (polynomial >> (degree - i) & 1) m[k] ^= m[k - i] << i;
      }
      directions_.push_back(m[k] << (kBits - 1 - k));
    }
    state_.push_back(random.below(std::uint64_t{1} << kBits));
    do ++polynomial;
    while (!is_primitive(polynomial));
  }
}

void Sobol::next(VectorRef<double> point) {
  for (std::size_t axis = 0; axis < state_.size(); ++axis)
    point[static_cast<Index>(axis)] = static_cast<double>(state_[axis]) * 0x1p-52;
  // Gray code: one direction changes from a point to the next.
  const int bit = std::countr_one(count_++);
  for (std::size_t axis = 0; axis < state_.size(); ++axis)
    state_[axis] ^= directions_[axis * kBits + static_cast<std::size_t>(bit)];
}

}  // namespace sdm
