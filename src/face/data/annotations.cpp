#include "sdm/face/data/annotations.h"

#include <cmath>

#include "base/formatted.h"
#include "face/data/readers.h"

namespace sdm::face {
namespace {

// The points that a heading `file,x0,y0,...` names; a line that is no heading names none.
std::vector<int> heading_ids(const TextLines& file, const std::vector<std::string>& cells) {
  std::vector<int> ids;
  if (cells.size() < 3 || !cells[1].starts_with('x')) return ids;
  if (cells.size() % 2 == 0) file.fail(0, "the heading has an x without its y");
  for (std::size_t i = 1; i < cells.size(); i += 2) {
    const std::string number = cells[i].substr(std::min<std::size_t>(1, cells[i].size()));
    if (cells[i] != "x" + number || cells[i + 1] != "y" + number || number.empty() ||
        number.size() > 6 || number.find_first_not_of("0123456789") != std::string::npos)
      file.fail(0, formatted("the heading has '{},{}', expected 'xN,yN'", cells[i], cells[i + 1]));
    ids.push_back(std::stoi(number));
  }
  return ids;
}

Annotation parse_line(const std::vector<std::string>& cells, std::size_t points) {
  if (cells.size() != 1 + 2 * points)
    throw Error(formatted("{} numbers, expected {}", cells.size() - 1, 2 * points));
  if (cells[0].empty()) throw Error("no file name");
  Annotation face{cells[0], Shape(2, Eigen::Index(points)), {}};
  for (std::size_t i = 0; i < 2 * points; ++i)
    face.points.data()[i] = float(to_coordinate(cells[1 + i]));
  check_pairs(face.points);
  return face;
}

}  // namespace

Annotations read_annotations(const std::filesystem::path& path, const ReadOptions& options) {
  if (std::filesystem::is_directory(path)) return read_pts(path, options);
  const std::string extension = path.extension().string();
  if (extension == ".csv") return read_csv(path, options);
  if (extension == ".pts") return read_pts(path, options);
  if (extension == ".xml") return read_imglab(path, options);
  if (extension == ".txt" || extension == ".lst" || extension == ".dat")
    return read_list(path, options);
  throw Error(
      formatted("{}: '{}' tells no format of annotations, expected .csv, .pts or a folder "
                "of them, .xml, .txt, .lst or .dat",
                path.string(), extension));
}

Annotations read_csv(const std::filesystem::path& path, const ReadOptions& options) {
  const TextLines file = io::read_lines(path);
  Annotations annotations;
  annotations.folder = path.parent_path();
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    if (stripped(file.lines[i]).empty()) continue;
    const std::vector<std::string> cells = split_cells(file.lines[i]);
    if (annotations.ids.empty()) {
      annotations.ids = heading_ids(file, cells);
      if (!annotations.ids.empty()) continue;
      if (cells.size() < 3 || cells.size() % 2 == 0)
        file.fail(i, formatted("{} cells, expected a file and pairs of x and y", cells.size()));
      annotations.ids = first_ids(cells.size() / 2);
    }
    read_or_skip(annotations, options, [&] {
      try {
        annotations.faces.push_back(parse_line(cells, annotations.ids.size()));
      } catch (const Error& error) {
        file.fail(i, error.what());
      }
    });
  }
  return checked(std::move(annotations), path);
}

void write_csv(const std::filesystem::path& path, const Annotations& annotations) {
  std::string text = "file";
  for (int id : annotations.ids) text += formatted(",x{0},y{0}", id);
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
    text += '\n';
  }
  io::write_text(path, text);
}

}  // namespace sdm::face
