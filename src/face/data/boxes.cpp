#include "sdm/face/data/boxes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <utility>

#include "base/formatted.h"
#include "face/data/readers.h"
#include "face/starts.h"
#include "sdm/base/random.h"

namespace sdm::face {
namespace {

constexpr const char* kSides[] = {"x", "y", "w", "h"};
constexpr char kNoName[] = "box";  // what a model calls the boxes of a detector without a name

std::string column(const std::string& detector, const char* side) {
  return detector.empty() ? side : detector + "_" + side;
}

// The columns where detectors' boxes begin, and their names.
std::vector<std::pair<std::size_t, std::string>> detectors_in(
    const TextLines& file, const std::vector<std::string>& heading) {
  std::vector<std::pair<std::size_t, std::string>> detectors;
  for (std::size_t i = 1; i < heading.size(); ++i) {
    const std::string& cell = heading[i];
    if (cell != "x" && !cell.ends_with("_x")) continue;
    const std::string name = cell.substr(0, cell == "x" ? 0 : cell.size() - 2);
    for (std::size_t k = 0; k < 4; ++k)
      if (i + k >= heading.size() || heading[i + k] != column(name, kSides[k]))
        file.fail(0, formatted("column {} of the heading, expected '{}'", i + k + 1,
                               column(name, kSides[k])));
    detectors.emplace_back(i, name);
  }
  return detectors;
}

// Four cells; nothing where they are empty.
std::optional<Box> read_box(std::span<const std::string, 4> cells) {
  if (std::all_of(cells.begin(), cells.end(), [](const std::string& c) { return c.empty(); }))
    return {};
  const Box box{float(to_pixels(cells[0])), float(to_pixels(cells[1])), float(to_pixels(cells[2])),
                float(to_pixels(cells[3]))};
  if (box.width <= 0 || box.height <= 0)
    throw Error(formatted("a box of {} x {} pixels", box.width, box.height));
  return box;
}

float overlap(const Box& a, const Eigen::AlignedBox2f& b) {
  const float w = std::min(a.x + a.width, b.max().x()) - std::max(a.x, b.min().x());
  const float h = std::min(a.y + a.height, b.max().y()) - std::max(a.y, b.min().y());
  if (w <= 0 || h <= 0) return 0;
  return w * h / (a.width * a.height + b.sizes().prod() - w * h);
}

// The one that covers the points best, the only one even if it touches none of them.
std::optional<Box> best_box(const Shape& points, const std::vector<Box>& boxes) {
  if (boxes.empty()) return {};
  if (boxes.size() == 1) return boxes[0];
  const Eigen::AlignedBox2f around = bounds(points);
  return *std::max_element(boxes.begin(), boxes.end(), [&](const Box& a, const Box& b) {
    return overlap(a, around) < overlap(b, around);
  });
}

std::optional<Box> best_box(const Annotation& face, const Boxes& boxes) {
  const auto found = boxes.find(face.file);
  return found == boxes.end() ? std::nullopt : best_box(face.points, found->second);
}

}  // namespace

const Boxes& BoxTable::of(const std::string& detector) const {
  const auto found = std::find(detectors.begin(), detectors.end(), detector);
  if (found != detectors.end()) return boxes[std::size_t(found - detectors.begin())];
  // Without a choice there is nothing to name.
  if (detectors.size() == 1 && (detector.empty() || detector == kNoName || detectors[0].empty()))
    return boxes[0];
  throw Error(formatted("{}:1: no boxes of the detector '{}', there are: {}", path.string(),
                        detector, joined(detectors, ", ")));
}

std::vector<std::string> BoxTable::by_preference() const {
  std::vector<std::string> names = detectors;
  std::erase(names, "");
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name == "haar_alt2"; });
  return names.empty() ? std::vector<std::string>{kNoName} : names;
}

BoxTable read_box_table(const std::filesystem::path& path) {
  const TextLines file = io::read_lines(path);
  if (file.lines.empty() || split_cells(file.lines[0])[0] != "file")
    throw Error(formatted("{}:1: expected a heading such as file,x,y,w,h", path.string()));
  const std::vector<std::string> heading = split_cells(file.lines[0]);
  const auto columns = detectors_in(file, heading);
  BoxTable table{path, {}, std::vector<Boxes>(columns.size())};
  for (const auto& [first, name] : columns) table.detectors.push_back(name);
  for (std::size_t i = 1; i < file.lines.size(); ++i) {
    if (stripped(file.lines[i]).empty()) continue;
    const std::vector<std::string> cells = split_cells(file.lines[i]);
    if (cells.size() != heading.size())
      file.fail(i, formatted("{} cells, expected {}", cells.size(), heading.size()));
    for (std::size_t k = 0; k < columns.size(); ++k) {
      std::vector<Box>& found = table.boxes[k][cells[0]];
      try {
        if (const auto box = read_box(std::span(cells).subspan(columns[k].first).first<4>()))
          found.push_back(*box);
      } catch (const Error& error) {
        file.fail(i, error.what());
      }
    }
  }
  return table;
}

Boxes read_boxes(const std::filesystem::path& path, const std::string& detector) {
  return read_box_table(path).of(detector);
}

void write_boxes(const std::filesystem::path& path, const Boxes& boxes,
                 const std::string& detector) {
  std::string text = "file";
  for (const char* side : kSides) text += formatted(",{}", column(detector, side));
  text += '\n';
  for (const auto& [file, found] : boxes) {
    if (found.empty()) text += quoted(file) + ",,,,\n";
    for (const Box& box : found)
      text += formatted("{},{},{},{},{}\n", quoted(file), box.x, box.y, box.width, box.height);
  }
  io::write_text(path, text);
}

void give_box(Annotation& face, const std::vector<Box>& boxes) {
  face.box = best_box(face.points, boxes);
}

void give_boxes(Annotations& annotations, const Boxes& boxes) {
  for (Annotation& face : annotations.faces) face.box = best_box(face, boxes);
}

std::vector<std::vector<Box>> boxes_of(const Annotations& annotations, const BoxTable& table,
                                       const std::vector<std::string>& detectors) {
  std::vector<std::vector<Box>> boxes(annotations.faces.size());
  for (const std::string& detector : detectors) {
    const Boxes& all = table.of(detector);
    for (std::size_t i = 0; i < boxes.size(); ++i)
      boxes[i].push_back(best_box(annotations.faces[i], all).value_or(Box{}));
  }
  return boxes;
}

std::filesystem::path boxes_beside(const std::filesystem::path& annotations) {
  std::filesystem::path boxes = annotations;
  return boxes.replace_filename(annotations.stem().string() + "_boxes.csv");
}

Box perturbed_box(const Shape& points, const Shape& mean, const BoxConvention& convention,
                  std::uint64_t seed, std::uint64_t index) {
  if (points.cols() != mean.cols())
    throw Error(
        formatted("{} points, expected {} as the mean shape has", points.cols(), mean.cols()));
  if (!(fit_similarity(mean, points).scale() > 0))
    throw Error("fewer than two different points are known");
  Random random(seed, "detector box", index);
  return convention.box(detected_start(points, mean, convention, random));
}

}  // namespace sdm::face
