#include "sdm/rigid/score.h"

#include <cmath>

namespace sdm::rigid {

double Score::probability(const ScoreFeatures& f) const {
  return 1 / (1 + std::exp(-double(weights.dot(f) + bias)));
}

}  // namespace sdm::rigid
