#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

namespace sdm::report {
namespace {

constexpr double kWidth = 460, kHeight = 320;                       // of one chart
constexpr double kLeft = 64, kRight = 16, kTop = 50, kBottom = 48;  // margins of the frame
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kLetter = 6.5;  // about the width of one, at 12 px

// Colours that stand out on white and on black; colour-blind readers can tell the first ones apart.
constexpr std::array kColours = {"#2f7ed8", "#d9822b", "#3a9d5d", "#c2498b", "#8a6fd1",
                                 "#b8902b", "#4aa3a3", "#d05555", "#7d8791", "#8aa829"};

// Methods that are compared in one chart have different colours here.
struct KnownMethod {
  const char* name;
  std::size_t colour;
};
constexpr KnownMethod kKnownMethods[] = {
    {"sdm", 0},
    {"sdm accurate", 0},
    {"newton", 1},
    {"tiny_solver", 1},
    {"posit", 1},
    {"lk_forward_additive", 1},
    {"intraface", 1},
    {"ceres", 2},
    {"sqpnp", 2},
    {"ecc", 2},
    {"dlib, shipped", 2},
    {"epnp", 3},
    {"lk_inverse_compositional", 3},
    {"dlib, same faces", 3},
    {"cminpack", 3},
    {"sdm_refined", 4},
    {"sdm_guarded", 6},
    {"sdm fast", 4},
    {"iterative", 8},
    {"sdm_partition_refined", 6},
    {"sdm_paper", 6},
    {"one linear stage", 6},
};

std::string method_of(const std::string& name) {
  std::string method = name.substr(0, name.find(" ("));
  for (char& c : method) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return method;
}

const std::vector<Series>& series_of(const Chart& chart) {
  return std::visit([](const auto& c) -> const std::vector<Series>& { return c.series; }, chart);
}

/// Maps values to [0, 1] and knows where to put ticks.
struct Axis {
  bool log = false;
  double low = std::numeric_limits<double>::infinity(), high = -low;

  bool shows(double v) const { return std::isfinite(v) && (!log || v > 0); }
  void include(double v) {
    if (!shows(v)) return;
    low = std::min(low, scale(v));
    high = std::max(high, scale(v));
  }
  void settle() {
    if (low > high) low = 0, high = 1;
    if (high - low < 1e-12) low -= 0.5, high += 0.5;
    if (log) low = std::floor(low), high = std::ceil(high);
    if (!log && low > 0 && low < high / 4) low = 0;  // nearly there: show the zero
  }
  double scale(double v) const { return log ? std::log10(v) : v; }
  double place(double v) const { return (scale(v) - low) / (high - low); }
  std::vector<double> ticks() const {
    double step = std::pow(10, std::floor(std::log10((high - low) / 4)));
    for (double factor : {2., 2.5, 2.})
      if ((high - low) / step > 6) step *= factor;
    if (log) step = std::max(1.0, std::ceil((high - low) / 7));
    std::vector<double> at;
    const auto first = std::llround(std::ceil(low / step - 1e-9)),
               last = std::llround(std::floor(high / step + 1e-9));
    for (auto i = first; i <= last; ++i) {
      const double at_tick = static_cast<double>(i) * step;
      at.push_back(log ? std::pow(10, at_tick) : at_tick);
    }
    return at;
  }
};

std::string tick_label(double v) {
  return v != 0 && (std::abs(v) >= 1e5 || std::abs(v) < 1e-3) ? fmt::format("{:.0e}", v)
                                                              : fmt::format("{:g}", v);
}

std::string text(double x, double y, const std::string& anchor, const std::string& what,
                 const std::string& more = "") {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}' {}>{}</text>\n", x, y, anchor,
                     more, escape_markup(what));
}

/// The part of a chart inside its frame. Names of categories that stand upright need more room.
struct Area {
  double bottom = kBottom;
  double height() const { return kHeight - kTop - bottom; }
  double x_at(double share) const { return kLeft + share * kPlotWidth; }
  double y_at(double share) const { return kTop + (1 - share) * height(); }
};

std::string frame(const Area& area, const std::string& title, const std::string& x_label,
                  const std::string& y_label, const Axis& y) {
  std::string out = text(kLeft + kPlotWidth / 2, 20, "middle", title, "class='title'");
  out += text(kLeft + kPlotWidth / 2, kHeight - 10, "middle", x_label);
  out +=
      text(0, 0, "middle", y_label,
           fmt::format("transform='translate(14 {:.0f}) rotate(-90)'", kTop + area.height() / 2));
  for (double t : y.ticks()) {
    const double at = area.y_at(y.place(t));
    out += fmt::format("<path class='grid' d='M{} {:.1f}h{}'/>\n", kLeft, at, kPlotWidth);
    out += text(kLeft - 6, at + 4, "end", tick_label(t));
  }
  return out + fmt::format("<rect class='frame' x='{}' y='{}' width='{}' height='{}'/>\n", kLeft,
                           kTop, kPlotWidth, area.height());
}

struct Pixel {
  double x, y;
};

/// Top left of the box in a corner of the frame that hides the fewest of what was drawn.
Pixel free_corner(double width, double height, const Area& area, const std::vector<Pixel>& drawn) {
  const double right = kLeft + std::max(0.0, kPlotWidth - width),
               low = kTop + area.height() - height;
  const std::array<Pixel, 4> corners = {{{kLeft, kTop}, {right, low}, {right, kTop}, {kLeft, low}}};
  const auto hidden = [&](const Pixel& at) {
    return std::count_if(drawn.begin(), drawn.end(), [&](const Pixel& p) {
      return p.x > at.x && p.x < at.x + width && p.y > at.y && p.y < at.y + height;
    });
  };
  return *std::min_element(corners.begin(), corners.end(),
                           [&](const Pixel& a, const Pixel& b) { return hidden(a) < hidden(b); });
}

/// In a row under the title or, where a row would be too long, in a free corner of the frame.
std::string legend(const std::vector<Series>& series, const Area& area, const Palette& palette,
                   const std::vector<Pixel>& drawn) {
  const auto width = [](const Series& s) {
    return 28 + kLetter * static_cast<double>(s.name.size());
  };
  double total = 0, widest = 0;
  for (const Series& s : series) total += width(s), widest = std::max(widest, width(s));
  const bool row = total <= kWidth;
  double x = (kWidth - total) / 2 + 10, y = 40;
  if (!row) {
    const Pixel corner =
        free_corner(widest + 10, 15 * static_cast<double>(series.size()) + 10, area, drawn);
    x = corner.x + 10, y = corner.y + 16;
  }
  std::string out;
  for (std::size_t i = 0; i < series.size(); ++i) {
    out += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='12' height='4' fill='{}'/>\n", x, y - 6,
                       palette.colour(series, i));
    out += text(x + 16, y, "start", series[i].name);
    (row ? x : y) += row ? width(series[i]) : 15;
  }
  return out;
}

std::string draw(const LineChart& chart, const Palette& palette) {
  const Area area;
  Axis x{chart.log_x}, y{chart.log_y};
  for (const Series& s : chart.series) {
    for (double v : s.x) x.include(v);
    for (double v : s.y) y.include(v);
  }
  x.settle();
  y.settle();
  std::string out = frame(area, chart.title, chart.x_label, chart.y_label, y);
  for (double t : x.ticks()) {
    const double at = area.x_at(x.place(t));
    out += fmt::format("<path class='grid' d='M{:.1f} {}v{}'/>\n", at, kTop, area.height());
    out += text(at, kHeight - area.bottom + 16, "middle", tick_label(t));
  }
  std::vector<Pixel> drawn;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& s = chart.series[i];
    const std::string colour = palette.colour(chart.series, i);
    std::string path, dots;
    bool pen_down = false;
    for (std::size_t k = 0; k < std::min(s.x.size(), s.y.size()); ++k) {
      const bool shown = x.shows(s.x[k]) && y.shows(s.y[k]);
      if (shown) {
        const double px = area.x_at(x.place(s.x[k])), py = area.y_at(y.place(s.y[k]));
        drawn.push_back({px, py});
        path += fmt::format("{}{:.1f} {:.1f}", pen_down ? 'L' : 'M', px, py);
        dots += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='2.5' fill='{}'/>", px, py, colour);
      }
      pen_down = shown;
    }
    out += fmt::format("<path d='{}' fill='none' stroke='{}' stroke-width='1.8'/>{}\n", path,
                       colour, chart.markers ? dots : "");
  }
  return out + (chart.legend ? legend(chart.series, area, palette, drawn) : "");
}

std::string draw(const BarChart& chart, const Palette& palette) {
  Axis y{chart.log_y};
  if (!chart.log_y) y.include(0);
  for (const Series& s : chart.series)
    for (double v : s.y) y.include(v);
  y.settle();
  const double group =
      kPlotWidth / std::max<double>(1, static_cast<double>(chart.categories.size()));
  double longest = 0;
  for (const std::string& name : chart.categories)
    longest = std::max(longest, kLetter * static_cast<double>(name.size()));
  // Long names stand nearly upright, or they would run into each other.
  const bool upright = longest > group - 4;
  Area area;
  if (upright) area.bottom = std::clamp(0.87 * longest + 14, kBottom, kHeight / 2);
  std::string out = frame(area, chart.title, "", chart.y_label, y);
  const double bar = 0.8 * group / std::max<double>(1, static_cast<double>(chart.series.size()));
  const double zero = area.y_at(chart.log_y ? 0 : -y.low / (y.high - y.low));
  std::vector<Pixel> tops;
  for (std::size_t c = 0; c < chart.categories.size(); ++c) {
    const double left = kLeft + group * static_cast<double>(c), under = kHeight - area.bottom;
    if (upright)
      out += text(0, 0, "end", chart.categories[c],
                  fmt::format("transform='translate({:.1f} {:.1f}) rotate(-60)'",
                              left + group / 2 + 4, under + 10));
    else
      out += text(left + group / 2, under + 16, "middle", chart.categories[c]);
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      const double v = c < chart.series[i].y.size() ? chart.series[i].y[c] : 0;
      if (!y.shows(v)) continue;
      const double top = area.y_at(y.place(v));
      tops.push_back({left + 0.1 * group + bar * (static_cast<double>(i) + 0.5), top});
      out += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}'/>\n",
                         left + 0.1 * group + bar * static_cast<double>(i), std::min(top, zero),
                         bar, std::abs(top - zero), palette.colour(chart.series, i));
    }
  }
  return out + (chart.series.size() > 1 ? legend(chart.series, area, palette, tops) : "");
}

}  // namespace

Palette::Palette(const std::vector<Chart>& charts) {
  std::vector<std::string> others;
  std::array<bool, kColours.size()> taken{};
  for (const Chart& chart : charts)
    for (const Series& series : series_of(chart)) {
      const std::string method = method_of(series.name);
      if (method.empty() || !colours_.try_emplace(method).second) continue;
      const auto known = std::find_if(std::begin(kKnownMethods), std::end(kKnownMethods),
                                      [&](const KnownMethod& m) { return method == m.name; });
      if (known == std::end(kKnownMethods)) {
        others.push_back(method);
      } else {
        colours_[method] = kColours[known->colour];
        taken[known->colour] = true;
      }
    }
  std::vector<const char*> left;
  for (const bool used : {false, true})
    for (std::size_t i = 0; i < kColours.size(); ++i)
      if (taken[i] == used) left.push_back(kColours[i]);
  for (std::size_t i = 0; i < others.size(); ++i) colours_[others[i]] = left[i % left.size()];
}

std::string Palette::colour(const std::vector<Series>& series, std::size_t number) const {
  const auto found = colours_.find(method_of(series[number].name));
  return found != colours_.end() ? found->second : kColours[number % kColours.size()];
}

std::string svg(const std::vector<Chart>& charts, int columns) {
  return svg(charts, columns, Palette(charts));
}

std::string svg(const std::vector<Chart>& charts, int columns, const Palette& palette) {
  const int count = static_cast<int>(charts.size());
  columns = std::clamp(columns, 1, std::max(1, count));
  const int lines = (count + columns - 1) / columns;
  std::string out = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' class='sdm-plot' viewBox='0 0 {0} {1}' width='{0}' "
      "height='{1}'>\n",
      kWidth * columns, kHeight * lines);
  // Every rule names the picture: in the page it would reach other elements.
  out +=
      "<style>.sdm-plot text{font:12px sans-serif;fill:#333}"
      ".sdm-plot .title{font-size:14px;font-weight:bold}"
      ".sdm-plot .back{fill:#fff}.sdm-plot .grid{stroke:#ddd}"
      ".sdm-plot .frame{fill:none;stroke:#888}"
      "@media(prefers-color-scheme:dark){.sdm-plot text{fill:#ddd}.sdm-plot .back{fill:#1b1b1b}"
      ".sdm-plot .grid{stroke:#3a3a3a}}"
      "</style>\n<rect class='back' width='100%' height='100%'/>\n";
  for (int i = 0; i < count; ++i) {
    const int row = i / columns, column = i % columns;
    out += fmt::format("<g transform='translate({} {})'>\n{}</g>\n", kWidth * column, kHeight * row,
                       std::visit([&](const auto& chart) { return draw(chart, palette); },
                                  charts[static_cast<std::size_t>(i)]));
  }
  return out + "</svg>\n";
}

std::string escape_markup(const std::string& text) {
  std::string safe;
  for (char c : text) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '&')
      safe += "&amp;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

nlohmann::ordered_json to_json(const Chart& chart, const Palette& palette) {
  using Json = nlohmann::ordered_json;
  const auto numbers = [](const std::vector<double>& values, bool log) {
    Json list = Json::array();
    for (double v : values) list.push_back(Axis{log}.shows(v) ? Json(v) : Json());
    return list;
  };
  const auto series = [&](const std::vector<Series>& all, bool log_x, bool log_y) {
    Json list = Json::array();
    for (std::size_t i = 0; i < all.size(); ++i)
      list.push_back({{"name", all[i].name},
                      {"colour", palette.colour(all, i)},
                      {"x", numbers(all[i].x, log_x)},
                      {"y", numbers(all[i].y, log_y)}});
    return list;
  };
  if (const LineChart* line = std::get_if<LineChart>(&chart))
    return {{"kind", "line"},
            {"title", line->title},
            {"x_label", line->x_label},
            {"y_label", line->y_label},
            {"log_x", line->log_x},
            {"log_y", line->log_y},
            {"markers", line->markers},
            {"legend", line->legend},
            {"series", series(line->series, line->log_x, line->log_y)}};
  const BarChart& bar = std::get<BarChart>(chart);
  return {{"kind", "bar"},
          {"title", bar.title},
          {"x_label", ""},
          {"y_label", bar.y_label},
          {"log_x", false},
          {"log_y", bar.log_y},
          {"markers", false},
          {"legend", bar.series.size() > 1},
          {"categories", bar.categories},
          {"series", series(bar.series, false, bar.log_y)}};
}

}  // namespace sdm::report
