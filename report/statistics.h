#pragma once

#include <vector>

namespace sdm::report {

/// Of the finite values alone; NaN without any. The median of an even number of values is the
/// larger of the two in the middle.
double finite_mean(const std::vector<double>& values);
double finite_median(std::vector<double> values);
/// The smallest value that at least this share does not exceed.
double finite_quantile(std::vector<double> values, double share);

}  // namespace sdm::report
