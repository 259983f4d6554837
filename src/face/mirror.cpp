#include "face/mirror.h"

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::face {

void require_mirror(const std::vector<int>& mirror, Index points) {
  if (static_cast<Index>(mirror.size()) != points)
    throw Error(formatted("the mirror has {} points, expected {}", mirror.size(), points));
  for (Index p = 0; p < points; ++p) {
    const int q = mirror[static_cast<std::size_t>(p)];
    if (q < 0 || q >= points || mirror[static_cast<std::size_t>(q)] != p)
      throw Error(formatted(
          "the mirror says point {} becomes {}, expected each pair of 0 to {} to name each other",
          p, q, points - 1));
  }
}

}  // namespace sdm::face
