#pragma once

#include <vector>

#include "report/plot.h"
#include "sdm/face/data/evaluation.h"

namespace sdm::report {

/// The cumulative error curves up to the results' threshold, each with its mean in the legend.
LineChart error_curves(const std::vector<face::Evaluation>& results);

}  // namespace sdm::report
