#include "sdm/face/data/boxes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "base/formatted.h"
#include "face/data/readers.h"

namespace sdm::face {
namespace {

constexpr const char* kSides[] = {"x", "y", "w", "h"};

std::string column(const std::string& detector, const char* side) {
  return detector.empty() ? side : detector + "_" + side;
}

// The column where the boxes of `detector` begin.
std::size_t first_column(const TextLines& file, const std::vector<std::string>& heading,
                         const std::string& detector) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < heading.size(); ++i) {
    const std::string& cell = heading[i];
    if (cell != "x" && !cell.ends_with("_x")) continue;
    const std::string name = cell.substr(0, cell == "x" ? 0 : cell.size() - 2);
    for (std::size_t k = 0; k < 4; ++k)
      if (i + k >= heading.size() || heading[i + k] != column(name, kSides[k]))
        file.fail(0, formatted("column {} of the heading, expected '{}'", i + k + 1,
                               column(name, kSides[k])));
    if (name == detector) return i;
    names.push_back(name);
  }
  // Without a choice there is nothing to name.
  if (names.size() != 1 || !(detector.empty() || names[0].empty()))
    file.fail(0, formatted("no boxes of the detector '{}', there are: {}", detector,
                           joined(names, ", ")));
  return std::size_t(std::find(heading.begin(), heading.end(), column(names[0], "x")) -
                     heading.begin());
}

float overlap(const Box& a, const Eigen::AlignedBox2f& b) {
  const float w = std::min(a.x + a.width, b.max().x()) - std::max(a.x, b.min().x());
  const float h = std::min(a.y + a.height, b.max().y()) - std::max(a.y, b.min().y());
  if (w <= 0 || h <= 0) return 0;
  return w * h / (a.width * a.height + b.sizes().prod() - w * h);
}

}  // namespace

Boxes read_boxes(const std::filesystem::path& path, const std::string& detector) {
  const TextLines file = io::read_lines(path);
  if (file.lines.empty() || split_cells(file.lines[0])[0] != "file")
    throw Error(formatted("{}:1: expected a heading such as file,x,y,w,h", path.string()));
  const std::vector<std::string> heading = split_cells(file.lines[0]);
  const std::size_t first = first_column(file, heading, detector);
  Boxes boxes;
  for (std::size_t i = 1; i < file.lines.size(); ++i) {
    if (stripped(file.lines[i]).empty()) continue;
    const std::vector<std::string> cells = split_cells(file.lines[i]);
    if (cells.size() != heading.size())
      file.fail(i, formatted("{} cells, expected {}", cells.size(), heading.size()));
    std::vector<Box>& found = boxes[cells[0]];
    const auto cell = cells.begin() + std::ptrdiff_t(first);
    if (std::all_of(cell, cell + 4, [](const std::string& c) { return c.empty(); })) continue;
    try {
      const Box box{float(to_number(cell[0])), float(to_number(cell[1])), float(to_number(cell[2])),
                    float(to_number(cell[3]))};
      if (box.width <= 0 || box.height <= 0)
        throw Error(formatted("a box of {} x {} pixels", box.width, box.height));
      found.push_back(box);
    } catch (const Error& error) {
      file.fail(i, error.what());
    }
  }
  return boxes;
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
  face.box.reset();
  if (boxes.size() == 1) face.box = boxes[0];
  if (boxes.size() < 2) return;
  const Eigen::AlignedBox2f around = bounds(face.points);
  face.box = *std::max_element(boxes.begin(), boxes.end(), [&](const Box& a, const Box& b) {
    return overlap(a, around) < overlap(b, around);
  });
}

void give_boxes(Annotations& annotations, const Boxes& boxes) {
  for (Annotation& face : annotations.faces) {
    const auto found = boxes.find(face.file);
    give_box(face, found == boxes.end() ? std::vector<Box>() : found->second);
  }
}

Box perturbed_box(const Shape& points, const Shape& mean, const BoxConvention& convention,
                  std::uint64_t seed) {
  if (points.cols() != mean.cols())
    throw Error(
        formatted("{} points, expected {} as the mean shape has", points.cols(), mean.cols()));
  std::mt19937_64 random(seed);
  // The standard's normal distribution differs between libraries; Box and Muller's does not.
  const auto normal = [&random] {
    const auto uniform = [&random] { return (double(random() >> 11) + 0.5) * 0x1p-53; };
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return float(radius * std::cos(2 * std::numbers::pi * uniform()));
  };
  const Frame fitted = fit_frame(mean, points);
  const float unit = fitted.scale();
  if (!(unit > 0)) throw Error("fewer than two different points are known");
  const Frame moved{unit * std::exp(convention.sigma_log_scale * normal()), 0,
                    fitted.x + unit * convention.sigma_x * normal(),
                    fitted.y + unit * convention.sigma_y * normal()};
  return convention.box(moved);
}

}  // namespace sdm::face
