#include "report/error_curves.h"

#include <fmt/format.h>

namespace sdm::report {

LineChart error_curves(const std::vector<face::Evaluation>& results) {
  LineChart chart;
  chart.title = "Cumulative error distribution";
  const bool pixels = results[0].normaliser == face::Normaliser::pixels;
  const double unit = pixels ? 1 : 100;
  chart.x_label = pixels ? "root mean square error, pixels"
                         : fmt::format("error / {}, percent", face::name_of(results[0].normaliser));
  chart.y_label = "share of faces";
  chart.markers = false;
  std::vector<double> thresholds, shown;
  for (int i = 0; i <= 160; ++i) {
    thresholds.push_back(results[0].threshold * i / 160);
    shown.push_back(unit * thresholds.back());
  }
  for (const face::Evaluation& result : results)
    chart.series.push_back(
        {fmt::format("{} ({:.2f} {})", result.name, unit * result.mean, pixels ? "px" : "%"), shown,
         face::cumulative(result.errors, thresholds)});
  return chart;
}

}  // namespace sdm::report
