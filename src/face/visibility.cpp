#include "sdm/face/visibility.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "face/products.h"

namespace sdm::face {

void Visibility::probabilities(ConstVectorRef<float> patches, const std::vector<int>& nearest,
                               VectorRef<float> out) const {
  const Index points = bias.size(), near = static_cast<Index>(nearest.size()) / points;
  const Index size = patches.size() / points;
  for (Index p = 0; p < points; ++p) {
    float sum = bias[p];
    for (Index k = 0; k < near; ++k) {
      const Index patch = nearest[static_cast<std::size_t>(p * near + k)];
      sum += dot(weights.col(p).data() + k * size, patches.data() + patch * size, size);
    }
    out[p] = 1 / (1 + std::exp(-sum));
  }
}

std::vector<int> nearest_points(const Shape& mean, const std::vector<int>& mirror) {
  const Index points = mean.cols(), near = std::min(points, Visibility::kNear);
  std::vector<int> result(static_cast<std::size_t>(points * near));
  const auto at = [&](Index p, Index k) -> int& {
    return result[static_cast<std::size_t>(p * near + k)];
  };
  std::vector<int> order(static_cast<std::size_t>(points));
  for (Index p = 0; p < points; ++p) {
    const int partner = mirror.empty() ? int(p) : mirror[static_cast<std::size_t>(p)];
    if (partner < p) {
      for (Index k = 0; k < near; ++k) at(p, k) = mirror[static_cast<std::size_t>(at(partner, k))];
      continue;
    }
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return (mean.col(a) - mean.col(p)).squaredNorm() < (mean.col(b) - mean.col(p)).squaredNorm();
    });
    for (Index k = 0; k < near; ++k) at(p, k) = order[static_cast<std::size_t>(k)];
  }
  return result;
}

}  // namespace sdm::face
