#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/exhibit.h"

namespace sdm::report {

/// What an experiment measured: rows of {case, method, metric, value, unit, ...}. One shape for
/// every experiment, so that one reader serves them all. A value that is not finite is written as
/// null.
class Results {
 public:
  using Json = nlohmann::ordered_json;

  struct Row {
    std::string case_name, method, metric;
    double value = 0;
    std::string unit;
    Json extra = Json::object();  // further fields of this row, such as "step" or "sigma"
  };

  explicit Results(std::string experiment) : experiment_(std::move(experiment)) {}

  void add(std::string case_name, std::string method, std::string metric, double value,
           std::string unit = "", Json extra = Json::object());

  const std::string& experiment() const { return experiment_; }
  const std::vector<Row>& rows() const { return rows_; }
  /// The first row with these names and this extra field, or, where none is given, without extra
  /// fields; null if there is none.
  const Row* find(const std::string& case_name, const std::string& method,
                  const std::string& metric, const std::string& field = "",
                  const Json& value = {}) const;

  /// What a reader needs to repeat the run.
  Json settings = Json::object();
  /// What the report page shows, in this order. A figure is also written as NAME/FIGURE.svg.
  std::vector<Exhibit> exhibits;
  std::vector<Claim> claims;
  /// How the run went: status ("done", "no data" or "failed"), message, command, seconds, machine.
  Json run = Json::object();

  /// Of all figures together, so that a method has one colour in them.
  Palette palette() const;

  /// {"experiment", "settings", "run", "claims", "rows"}.
  Json json() const;
  /// The same rows as CSV; extra fields are further columns, empty where a row has none.
  std::string csv() const;
  /// Writes results.json, results.csv and the figures to DIR/NAME, which is made. Throws Error
  /// naming the file.
  void write(const std::filesystem::path& directory) const;

 private:
  std::string experiment_;
  std::vector<Row> rows_;
};

/// A table's JSON rows (objects) as CSV, these columns first; further fields are further columns.
std::string rows_as_csv(const Results::Json& rows, std::vector<std::string> columns);

/// Whether a cell of a table is a number and so stands right.
bool looks_numeric(const std::string& text);

/// Lines of text cells with aligned columns; the first line is the heading. Numbers stand right.
std::string format_table(const std::vector<std::vector<std::string>>& lines);

/// A table of one metric: a line for each case, a column for each method, in order of appearance.
/// Only rows without extra fields count.
Table metric_table(const Results& results, const std::string& metric, int digits = 4);
std::string format_metric(const Results& results, const std::string& metric, int digits = 4);

/// JSON for a file or stdout. Bytes that are not UTF-8, such as in the name of a file, are
/// replaced.
std::string json_text(const Results::Json& json);

/// Writes a text file, making its folder. Throws Error naming the file.
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace sdm::report
