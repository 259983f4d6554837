#include "report/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/io/file.h"

namespace sdm::report {
namespace {

std::string csv_cell(const Results::Json& value) {
  if (value.is_null()) return "";
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return quoted(text, ",");
}

template <class T>
std::size_t index_of(std::vector<T>& values, const T& value) {
  const auto at = std::find(values.begin(), values.end(), value);
  if (at == values.end()) values.push_back(value);
  return static_cast<std::size_t>(std::find(values.begin(), values.end(), value) - values.begin());
}

}  // namespace

bool looks_numeric(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789+-.eE%xnaif") == std::string::npos;
}

void Results::add(std::string case_name, std::string method, std::string metric, double value,
                  std::string unit, Json extra) {
  rows_.push_back({std::move(case_name), std::move(method), std::move(metric), value,
                   std::move(unit), std::move(extra)});
}

const Results::Row* Results::find(const std::string& case_name, const std::string& method,
                                  const std::string& metric, const std::string& field,
                                  const Json& value) const {
  for (const Row& row : rows_)
    if (row.case_name == case_name && row.method == method && row.metric == metric &&
        (field.empty() ? row.extra.empty()
                       : row.extra.contains(field) && row.extra.at(field) == value))
      return &row;
  return nullptr;
}

Results::Json Results::json() const {
  Json rows = Json::array();
  for (const Row& row : rows_) {
    Json entry = {{"case", row.case_name}, {"method", row.method}, {"metric", row.metric}};
    entry["value"] = std::isfinite(row.value) ? Json(row.value) : Json();
    entry["unit"] = row.unit;
    entry.update(row.extra);
    rows.push_back(std::move(entry));
  }
  Json told = Json::array();
  for (const Claim& claim : claims)
    told.push_back({{"claim", claim.claim},
                    {"paper", claim.paper},
                    {"ours", claim.ours},
                    {"others", claim.others}});
  return {{"experiment", experiment_},
          {"settings", settings},
          {"run", run},
          {"claims", std::move(told)},
          {"rows", std::move(rows)}};
}

std::string rows_as_csv(const Results::Json& rows, std::vector<std::string> columns) {
  for (const Results::Json& row : rows)
    for (const auto& [name, value] : row.items()) index_of(columns, name);
  std::string text = fmt::format("{}\n", fmt::join(columns, ","));
  for (const Results::Json& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& column : columns)
      cells.push_back(csv_cell(row.value(column, Results::Json())));
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

std::string Results::csv() const {
  return rows_as_csv(json().at("rows"), {"case", "method", "metric", "value", "unit"});
}

Palette Results::palette() const {
  std::vector<Chart> charts;
  for (const Exhibit& exhibit : exhibits)
    if (const Figure* figure = std::get_if<Figure>(&exhibit.content))
      charts.insert(charts.end(), figure->charts.begin(), figure->charts.end());
  return Palette(charts);
}

void Results::write(const std::filesystem::path& directory) const {
  const Palette colours = palette();
  write_text(directory / experiment_ / "results.json", json_text(json()));
  write_text(directory / experiment_ / "results.csv", csv());
  for (const Exhibit& exhibit : exhibits)
    if (const Figure* figure = std::get_if<Figure>(&exhibit.content))
      write_text(directory / experiment_ / (exhibit.name + ".svg"),
                 svg(figure->charts, figure->columns, colours));
}

std::string format_table(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    std::string row;
    for (std::size_t i = 0; i < lines[l].size(); ++i) {
      const std::string& cell = lines[l][i];
      const bool right = i > 0 && (l == 0 || looks_numeric(cell));
      row += right ? fmt::format("{:>{}}  ", cell, widths[i])
                   : fmt::format("{:<{}}  ", cell, widths[i]);
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

Table metric_table(const Results& results, const std::string& metric, int digits) {
  std::vector<std::string> cases, methods;
  for (const auto& row : results.rows())
    if (row.metric == metric && row.extra.empty()) {
      index_of(cases, row.case_name);
      index_of(methods, row.method);
    }
  std::vector<std::vector<std::string>> lines(cases.size() + 1,
                                              std::vector<std::string>(methods.size() + 1, "-"));
  lines[0][0] = metric;
  for (std::size_t i = 0; i < methods.size(); ++i) lines[0][i + 1] = methods[i];
  for (std::size_t i = 0; i < cases.size(); ++i) lines[i + 1][0] = cases[i];
  for (const auto& row : results.rows())
    if (row.metric == metric && row.extra.empty())
      lines[index_of(cases, row.case_name) + 1][index_of(methods, row.method) + 1] =
          fmt::format("{:.{}g}", row.value, digits);
  return {lines};
}

std::string format_metric(const Results& results, const std::string& metric, int digits) {
  return format_table(metric_table(results, metric, digits).lines);
}

std::string json_text(const Results::Json& json) {
  return json.dump(1, ' ', false, Results::Json::error_handler_t::replace) + "\n";
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::error_code failed;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failed);
  if (failed)
    throw Error(fmt::format("cannot make the folder {}: {}", path.parent_path().string(),
                            failed.message()));
  io::write_text(path, text);
}

}  // namespace sdm::report
