#include "report/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sdm::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double finite_mean(const std::vector<double>& values) {
  double sum = 0, count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / count : kNone;
}

double finite_median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return kNone;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double finite_quantile(std::vector<double> values, double share) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return kNone;
  const double rank = std::ceil(share * static_cast<double>(values.size())) - 1;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max(0.0, rank));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace sdm::report
