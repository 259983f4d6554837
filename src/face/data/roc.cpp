#include "sdm/face/data/roc.h"

#include <algorithm>
#include <limits>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::face {

Roc::Point Roc::at(double threshold) const {
  // They go down.
  const auto below = std::partition_point(thresholds.begin(), thresholds.end(),
                                          [&](double one) { return one >= threshold; });
  const auto last = static_cast<std::size_t>(below - thresholds.begin()) - 1;
  return {false_alarms[last], true_positives[last]};
}

double Roc::true_positives_at(double most_false_alarms) const {
  const auto beyond = std::upper_bound(false_alarms.begin(), false_alarms.end(), most_false_alarms);
  return beyond == false_alarms.begin()
             ? 0
             : true_positives[static_cast<std::size_t>(beyond - false_alarms.begin()) - 1];
}

Roc roc(std::vector<ScoredFit> fits) {
  Roc curve;
  for (const ScoredFit& fit : fits) ++(fit.good ? curve.good : curve.failed);
  if (curve.good == 0 || curve.failed == 0)
    throw Error(
        formatted("{} good and {} failed fits, expected some of both", curve.good, curve.failed));
  std::sort(fits.begin(), fits.end(),
            [](const ScoredFit& a, const ScoredFit& b) { return a.score > b.score; });
  const auto good = static_cast<double>(curve.good), failed = static_cast<double>(curve.failed);
  double passed = 0, alarms = 0;
  curve.thresholds = {std::numeric_limits<double>::infinity()};
  curve.false_alarms = {0};
  curve.true_positives = {0};
  for (std::size_t i = 0; i < fits.size(); ++i) {
    (fits[i].good ? passed : alarms) += 1;
    if (i + 1 < fits.size() && fits[i + 1].score == fits[i].score) continue;
    curve.area += (alarms / failed - curve.false_alarms.back()) *
                  (passed / good + curve.true_positives.back()) / 2;
    curve.thresholds.push_back(fits[i].score);
    curve.false_alarms.push_back(alarms / failed);
    curve.true_positives.push_back(passed / good);
  }
  return curve;
}

}  // namespace sdm::face
