#include "sdm/face/data/annotations.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "face/data/readers.h"

namespace sdm::face {
namespace {

// Where the cells of a line are. Without a heading there are points alone.
struct Columns {
  std::vector<std::size_t> points;  // the x of each; y follows
  std::size_t group = 0, scale = 0, count = 0;
};

Columns plain_columns(std::size_t count) {
  Columns columns;
  columns.count = count;
  for (std::size_t i = 1; i + 1 < count; i += 2) columns.points.push_back(i);
  return columns;
}

bool is_heading(const std::vector<std::string>& cells) {
  const auto is_coordinate = [](const std::string& cell) {
    return cell.empty() || cell == "nan" || cell == "NaN" || cell == "NAN" || number_in(cell);
  };
  return cells.size() >= 2 && !is_coordinate(cells[1]) &&
         (cells[0] == "file" || cells[1].starts_with('x') || cells[1].ends_with(".x"));
}

bool is_number_of_a_point(std::string_view text) {
  return !text.empty() && text.size() <= 6 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// `file,x0,y0,...` or `file,tip.x,tip.y,...`; gives the points' numbers and names.
Columns read_heading(const std::vector<std::string>& cells, Annotations& annotations) {
  Columns columns;
  columns.count = cells.size();
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const std::string& x = cells[i];
    if (x == "group" || x == "scale") {
      (x == "group" ? columns.group : columns.scale) = i;
      continue;
    }
    if (i + 1 == cells.size()) throw Error(formatted("the heading has '{}' without its y", x));
    const std::string& y = cells[i + 1];
    const std::string number = x.substr(std::min<std::size_t>(1, x.size()));
    const std::string name = x.substr(0, x.size() - std::min<std::size_t>(2, x.size()));
    if (x == "x" + number && y == "y" + number && is_number_of_a_point(number)) {
      annotations.ids.push_back(std::stoi(number));
    } else if (x == name + ".x" && y == name + ".y" && !name.empty()) {
      annotations.names.push_back(name);
    } else {
      throw Error(formatted("the heading has '{},{}', expected 'xN,yN' or 'NAME.x,NAME.y'", x, y));
    }
    columns.points.push_back(i++);
  }
  if (columns.points.empty()) throw Error("the heading has no points");
  if (!annotations.names.empty()) {
    if (!annotations.ids.empty())
      throw Error("the heading has points with numbers and points with names, expected one kind");
    annotations.ids = first_ids(annotations.names.size());
  }
  std::vector<std::string> names = annotations.names;
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    throw Error(formatted("the heading has the point '{}' twice", *twice));
  return columns;
}

double to_scale(std::string_view text) {
  const double scale = text.empty() ? 0 : to_number(text);
  if (!text.empty() && !(scale > 0)) throw Error(formatted("the scale {}", text));
  return scale;
}

Annotation parse_line(const std::vector<std::string>& cells, const Columns& columns) {
  if (cells.size() != columns.count)
    throw Error(formatted("{} {}, expected {}", cells.size() - 1,
                          columns.group + columns.scale > 0 ? "cells after the file" : "numbers",
                          columns.count - 1));
  if (cells[0].empty()) throw Error("no file name");
  Annotation face{cells[0], Shape(2, Eigen::Index(columns.points.size())), {}};
  for (std::size_t i = 0; i < columns.points.size(); ++i)
    face.points.col(Eigen::Index(i)) = Eigen::Vector2d(to_coordinate(cells[columns.points[i]]),
                                                       to_coordinate(cells[columns.points[i] + 1]))
                                           .cast<float>();
  check_pairs(face.points);
  if (columns.group > 0) face.group = cells[columns.group];
  if (columns.scale > 0) face.scale = to_scale(cells[columns.scale]);
  return face;
}

}  // namespace

std::vector<std::string> point_names(const Annotations& annotations) {
  if (!annotations.names.empty()) return annotations.names;
  std::vector<std::string> names;
  if (annotations.ids != first_ids(annotations.ids.size()))
    for (const int id : annotations.ids) names.push_back(std::to_string(id));
  return names;
}

void require_same_points(const std::vector<std::string>& names, const std::string& what,
                         const std::vector<std::string>& expected, const std::string& expected_by) {
  if (names.empty() || expected.empty()) return;
  for (std::size_t i = 0; i < std::min(names.size(), expected.size()); ++i)
    if (names[i] != expected[i])
      throw Error(formatted("{}: point {} is '{}', expected '{}' as in {}", what, i, names[i],
                            expected[i], expected_by));
  if (names.size() != expected.size())
    throw Error(formatted("{}: {} points, expected {} as in {}", what, names.size(),
                          expected.size(), expected_by));
}

Annotations read_annotations(const std::filesystem::path& path, const ReadOptions& options) {
  if (std::filesystem::is_directory(path)) return read_pts(path, options);
  const std::string extension = path.extension().string();
  if (extension == ".csv") return read_csv(path, options);
  if (extension == ".pts") return read_pts(path, options);
  if (extension == ".tps" || extension == ".TPS") return read_tps(path, options);
  if (extension == ".xml") return read_imglab(path, options);
  if (extension == ".txt" || extension == ".lst" || extension == ".dat")
    return read_list(path, options);
  throw Error(
      formatted("{}: '{}' tells no format of annotations, expected .csv, .pts or a folder "
                "of them, .tps, .xml, .txt, .lst or .dat",
                path.string(), extension));
}

Annotations read_csv(const std::filesystem::path& path, const ReadOptions& options) {
  const TextLines file = io::read_lines(path, options.text);
  Annotations annotations;
  annotations.folder = pictures_folder(path, options);
  Columns columns;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    if (stripped(file.lines[i]).empty()) continue;
    const std::vector<std::string> cells = split_cells(file.lines[i]);
    if (columns.count == 0) {
      if (is_heading(cells)) {
        try {
          columns = read_heading(cells, annotations);
        } catch (const Error& error) {
          file.fail(i, error.what());
        }
        continue;
      }
      if (cells.size() < 3 || cells.size() % 2 == 0)
        file.fail(i, formatted("{} cells, expected a file and pairs of x and y", cells.size()));
      columns = plain_columns(cells.size());
      annotations.ids = first_ids(columns.points.size());
    }
    read_or_skip(annotations, options, [&] {
      try {
        annotations.faces.push_back(parse_line(cells, columns));
        annotations.faces.back().where = place(file, i);
      } catch (const Error& error) {
        file.fail(i, error.what());
      }
    });
  }
  return checked(std::move(annotations), path, options);
}

void write_csv(const std::filesystem::path& path, const Annotations& annotations) {
  const auto any = [&](const auto& has) {
    return std::any_of(annotations.faces.begin(), annotations.faces.end(), has);
  };
  const bool groups = any([](const Annotation&face) { return !face.group.empty(); }),
             scales = any([](const Annotation&face) { return face.scale > 0; });
  std::string text = "file";
  if (annotations.names.empty())
    for (int id : annotations.ids) text += formatted(",x{0},y{0}", id);
  for (const std::string& name : annotations.names)
    text += formatted(",{},{}", quoted(name + ".x"), quoted(name + ".y"));
  if (groups) text += ",group";
  if (scales) text += ",scale";
  text += '\n';
  for (const Annotation& face : annotations.faces) {
    text += quoted(face.file);
    for (Eigen::Index i = 0; i < face.points.cols(); ++i) {
      if (std::isnan(face.points(0, i))) {
        text += ",,";
      } else {
        text += formatted(",{},{}", face.points(0, i), face.points(1, i));
      }
    }
    if (groups) text += formatted(",{}", quoted(face.group));
    if (scales) text += face.scale > 0 ? formatted(",{}", face.scale) : ",";
    text += '\n';
  }
  io::write_text(path, text);
}

}  // namespace sdm::face
