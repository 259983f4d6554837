#include "face/mirror.h"

#include <algorithm>

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

std::vector<int> part_mirror(const std::vector<int>& part, const std::vector<int>& mirror) {
  if (part.empty() || mirror.empty()) return mirror;
  std::vector<int> result;
  for (const int point : part) {
    const int partner = mirror[static_cast<std::size_t>(point)];
    const auto at = std::find(part.begin(), part.end(), partner);
    if (at == part.end())
      throw Error(formatted("a part of the face has point {} without its partner {} in the mirror",
                            point, partner));
    result.push_back(static_cast<int>(at - part.begin()));
  }
  return result;
}

}  // namespace sdm::face
