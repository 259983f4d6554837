#pragma once

#include "sdm/base/types.h"

namespace sdm::face {

/// A fit is good if its points are off by less than this many units of the face on average.
inline constexpr float kGoodFit = 0.1F;

/// Tells good fits from failed ones by what the patches of the last stage (on whole pixels, which
/// is as telling and faster) show at the final points: the probability of a good fit, where good
/// and failed ones are equally frequent, is 1 / (1 + exp(-(weights^T f + bias))). With a mirror f
/// are the sums of both sides, so a face and its mirror image get the same score.
struct Confidence {
  Vector<float> weights;  // empty: not learned
  float bias = 0;

  bool known() const { return weights.size() > 0; }
  float probability(ConstVectorRef<float> f) const;
};

}  // namespace sdm::face
