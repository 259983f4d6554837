#pragma once

#include <cstddef>
#include <vector>

namespace sdm::face {

/// A fit of which it is known whether it is good (confidence.h).
struct ScoredFit {
  double score = 0;
  bool good = false;
};

/// True positives against false alarms: what share of good fits and of failed ones pass as the
/// threshold of the score goes down. Starts at (0, 0) and ends at (1, 1); equal scores pass
/// together.
struct Roc {
  std::vector<double> thresholds, false_alarms, true_positives;
  std::size_t good = 0, failed = 0;
  double area = 0;  // the probability that a good fit scores above a failed one

  struct Point {
    double false_alarms = 0, true_positives = 0;
  };
  /// What passes with this score or more.
  Point at(double threshold) const;
  /// The most true positives with no more than this share of false alarms.
  double true_positives_at(double most_false_alarms) const;
};

/// Throws Error without any good or any failed fit.
Roc roc(std::vector<ScoredFit> fits);

}  // namespace sdm::face
