#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

namespace sdm::report {

/// One curve; for a bar chart x is not used and y has a value for each category. Points that are
/// not finite, or not positive on a log axis, leave a gap.
struct Series {
  std::string name;
  std::vector<double> x, y;
};

struct LineChart {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  bool markers = true;
  bool legend = true;
  std::vector<Series> series = {};
};

struct BarChart {
  std::string title, y_label;
  std::vector<std::string> categories = {};
  std::vector<Series> series = {};
  bool log_y = false;
};

using Chart = std::variant<LineChart, BarChart>;

/// One colour for each method, the same in all charts that share the palette: methods that we know
/// have their own wherever they appear, others get those left over in order of first appearance.
class Palette {
 public:
  Palette() = default;
  explicit Palette(const std::vector<Chart>& charts);

  /// The colour of this series of a chart. A name counts up to its " (": what follows is a figure.
  std::string colour(const std::vector<Series>& series, std::size_t number) const;

 private:
  std::map<std::string, std::string> colours_;
};

/// The charts in a grid as one SVG picture, left to right, top to bottom. Every chart has the same
/// size and the same type size, however many there are. Colours of text and background follow the
/// reader's light or dark setting.
std::string svg(const std::vector<Chart>& charts, int columns, const Palette& palette);
std::string svg(const std::vector<Chart>& charts, int columns = 2);

/// Text with <, >, & and quotes made safe for SVG and HTML.
std::string escape_markup(const std::string& text);

/// The chart as data, for the page's script. A point that leaves a gap is null.
nlohmann::ordered_json to_json(const Chart& chart, const Palette& palette);

}  // namespace sdm::report
