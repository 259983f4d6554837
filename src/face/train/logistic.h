#pragma once

#include <vector>

namespace sdm::face {

/// The probability of label 1 is 1 / (1 + exp(-(slope * score + offset))).
struct Logistic {
  double slope = 1, offset = 0;
};

/// Newton's method on the log likelihood, in which a sample counts as 1 / divisor; targets a little
/// inside of 0 and 1 keep the slope finite where the classes do not overlap (Platt, 1999). Labels
/// are 1 or less than 0.
Logistic fit_logistic(const std::vector<double>& scores, const std::vector<double>& labels,
                      const std::vector<double>& divisors);

}  // namespace sdm::face
