#pragma once

#include "sdm/base/types.h"

namespace sdm::rigid {

/// Corners are right if they are off by less than this on average, in hundredths of the template's
/// longer side.
inline constexpr double kRight = 3;

/// What a score looks at, all of the final place:
///   0     mean correlation of the template's blocks with the frame, weighted by their contrast
///   1..3  its quartiles, so that a part that is covered does not decide
///   4     the difference in HoG space
///   5     the same for the median cell
///   6     mean correlation of the 60 % of the template that correlate best
inline constexpr Index kScoreFeatures = 7;
using ScoreFeatures = Eigen::Matrix<float, kScoreFeatures, 1>;

/// The probability that the corners are right, where right and wrong ones are equally frequent:
/// 1 / (1 + exp(-(weights^T f + bias))), learned with each tracker from its own template.
struct Score {
  Vector<float> weights;  // empty: not learned
  float bias = 0;

  bool known() const { return weights.size() > 0; }
  double probability(const ScoreFeatures& f) const;
};

}  // namespace sdm::rigid
