#include "face/data/text.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>

#include "base/formatted.h"
#include "base/numbers.h"

namespace sdm::face {

TextFile::TextFile(const std::filesystem::path& path) : path(path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw Error(formatted("{}: cannot be opened for reading", path.string()));
  text.assign(std::istreambuf_iterator<char>(file), {});
  if (file.bad()) throw Error(formatted("{}: cannot be read to its end", path.string()));
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}

void TextFile::fail(std::size_t index, const std::string& what) const {
  throw Error(formatted("{}:{}: {}", path.string(), index + 1, what));
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(formatted("{}: cannot be written", path.string()));
}

std::string_view stripped(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

namespace {

std::vector<std::string> split(std::string_view line, std::string_view separators) {
  std::vector<std::string> parts(1);
  bool in_quotes = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      const bool twice = in_quotes && line.substr(i + 1).starts_with('"');
      if (twice) parts.back() += line[++i];
      if (!twice) in_quotes = !in_quotes;
    } else if (!in_quotes && separators.find(c) != std::string_view::npos) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

std::vector<std::string> split_cells(std::string_view line) {
  std::vector<std::string> cells = split(line, ",");
  for (std::string& cell : cells) cell = std::string(stripped(cell));
  return cells;
}

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words = split(line, " \t");
  std::erase(words, "");
  return words;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(", \t\"") == std::string::npos) return text;
  std::string result = "\"";
  for (char c : text) {
    if (c == '"') result += c;
    result += c;
  }
  return result + '"';
}

double to_number(std::string_view text) {
  text = stripped(text);
  const std::optional<double> value = parse_number(text);
  if (!value || !std::isfinite(float(*value)))
    throw Error(formatted("'{:.40}', expected a number", text));
  return *value;
}

double to_coordinate(std::string_view text) {
  text = stripped(text);
  if (text.empty() || text == "nan" || text == "NaN" || text == "NAN")
    return std::numeric_limits<double>::quiet_NaN();
  return to_number(text);
}

void check_pairs(const Shape& points) {
  for (Eigen::Index i = 0; i < points.cols(); ++i)
    if (std::isnan(points(0, i)) != std::isnan(points(1, i)))
      throw Error(formatted("point {} has one coordinate, expected both or none", i));
}

std::vector<int> first_ids(std::size_t count) {
  std::vector<int> ids(count);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

Annotations checked(Annotations annotations, const std::filesystem::path& path) {
  if (annotations.faces.empty())
    throw Error(formatted("{}: no face in it{}", path.string(),
                          annotations.skipped.empty()
                              ? std::string()
                              : formatted(" after {} bad entries were skipped, the first: {}",
                                          annotations.skipped.size(), annotations.skipped[0])));
  return annotations;
}

}  // namespace sdm::face
