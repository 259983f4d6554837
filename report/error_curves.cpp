#include "report/error_curves.h"

#include <fmt/format.h>

namespace sdm::report {

LineChart error_curves(const std::vector<face::Evaluation>& results) {
  LineChart chart;
  chart.title = "Cumulative error distribution";
  chart.x_label = fmt::format("error / {}, percent", face::name_of(results[0].normaliser));
  chart.y_label = "share of faces";
  chart.markers = false;
  std::vector<double> thresholds, percent;
  for (int i = 0; i <= 160; ++i) {
    thresholds.push_back(results[0].threshold * i / 160);
    percent.push_back(100 * thresholds.back());
  }
  for (const face::Evaluation& result : results)
    chart.series.push_back({fmt::format("{} ({:.2f} %)", result.name, 100 * result.mean), percent,
                            face::cumulative(result.errors, thresholds)});
  return chart;
}

}  // namespace sdm::report
