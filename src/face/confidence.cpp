#include "sdm/face/confidence.h"

#include <cmath>

namespace sdm::face {

float Confidence::probability(ConstVectorRef<float> f) const {
  return 1 / (1 + std::exp(-(weights.dot(f) + bias)));
}

}  // namespace sdm::face
