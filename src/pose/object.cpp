#include "sdm/pose/object.h"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <optional>

#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/base/text.h"

namespace sdm::pose {
namespace {

Points3 to_points(const std::vector<Eigen::Vector3d>& list) {
  Points3 points(3, static_cast<Eigen::Index>(list.size()));
  for (Eigen::Index i = 0; i < points.cols(); ++i)
    points.col(i) = list[static_cast<std::size_t>(i)];
  return points;
}

}  // namespace

int dimension(const Points3& points) {
  if (points.cols() < 2) return 0;
  const Eigen::Vector3d mean = points.rowwise().mean();
  const Eigen::Matrix3d scatter = (points.colwise() - mean) * (points.colwise() - mean).transpose();
  // Squares of the spreads, ascending.
  const Eigen::Vector3d squares =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(scatter, Eigen::EigenvaluesOnly).eigenvalues();
  if (!(squares[2] > 0)) return 0;
  return static_cast<int>((squares.array() > 1e-6 * squares[2]).count());
}

void check_object(const Points3& points) {
  if (points.cols() < least_points)
    throw Error(
        formatted("the object has {} points, expected at least {}", points.cols(), least_points));
  for (Eigen::Index i = 0; i < points.cols(); ++i)
    if (!points.col(i).allFinite())
      throw Error(formatted("point {} of the object is not finite", i));
  const int spread = dimension(points);
  if (spread < 2)
    throw Error(
        formatted("the object's {} points {}, expected points that spread over a plane or in space",
                  points.cols(), spread == 0 ? "are all one" : "stand on one line"));
}

Points3 cube(double side) {
  Points3 corners(3, 8);
  for (int i = 0; i < 8; ++i)
    for (int axis = 0; axis < 3; ++axis) corners(axis, i) = ((i >> axis & 1) - 0.5) * side;
  return corners;
}

Points3 parse_obj(std::string_view text, std::string_view name, std::string_view group) {
  std::vector<Eigen::Vector3d> vertices;
  std::vector<bool> used;
  bool in_group = false;
  const TextLines file{std::string(name), std::string(text)};
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    std::vector<std::string> words = split_words(file.lines[i]);
    if (words.empty()) continue;
    const std::string kind = words[0];
    if (kind == "v") {
      words.resize(4);
      Eigen::Vector3d vertex;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::optional<double> value = number_in(words[axis + 1]);
        if (!value)
          file.fail(i, formatted("a vertex has \"{}\", expected three numbers", words[axis + 1]));
        vertex[static_cast<Eigen::Index>(axis)] = *value;
      }
      vertices.push_back(vertex);
      used.push_back(group.empty());
    } else if (kind == "g") {
      in_group = (words.size() > 1 ? words[1] : "") == group;
    } else if (kind == "f") {
      for (std::size_t k = 1; k < words.size(); ++k) {
        const std::string corner = words[k].substr(0, words[k].find('/'));
        // Indices count from 1; negative ones count back from the last vertex so far.
        const auto count = static_cast<double>(vertices.size());
        const double index = number_in(corner).value_or(0);
        const double absolute = index < 0 ? count + index : index - 1;
        if (index == 0 || absolute != std::floor(absolute) || absolute < 0 || absolute >= count)
          file.fail(i, formatted("a face names vertex \"{}\", expected one of the {} so far",
                                 words[k], vertices.size()));
        if (in_group) used[static_cast<std::size_t>(absolute)] = true;
      }
    }
  }
  if (vertices.empty())
    throw Error(
        formatted("{}: no vertex (a line \"v X Y Z\"), expected a Wavefront OBJ file", name));
  std::vector<Eigen::Vector3d> kept;
  for (std::size_t i = 0; i < vertices.size(); ++i)
    if (used[i]) kept.push_back(vertices[i]);
  if (kept.empty()) throw Error(formatted("{}: no face in a group \"{}\"", name, group));
  return to_points(kept);
}

Points3 parse_points(std::string_view text, std::string_view name) {
  std::vector<Eigen::Vector3d> points;
  bool heading_allowed = true;
  const TextLines file{std::string(name), std::string(text)};
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string_view line = file.lines[i].substr(0, file.lines[i].find('#'));
    const std::vector<std::string> words = split_words(line, ", ;\t");
    if (words.empty()) continue;
    std::vector<double> values;
    for (const std::string& word : words)
      if (const std::optional<double> value = number_in(word)) values.push_back(*value);
    if (words.size() == 3 && values.size() == 3) {
      points.emplace_back(values[0], values[1], values[2]);
    } else if (!values.empty() || !heading_allowed) {
      file.fail(i, formatted("\"{}\", expected three numbers X, Y, Z", line));
    }
    heading_allowed = false;
  }
  if (points.empty()) throw Error(formatted("{}: no points, expected lines X, Y, Z", name));
  return to_points(points);
}

std::vector<Eigen::Index> spread_points(const Points3& points, Eigen::Index count) {
  if (count < 1 || count > points.cols())
    throw Error(
        formatted("{} points wanted of {}, expected 1 to {}", count, points.cols(), points.cols()));
  const Eigen::Vector3d centre = points.rowwise().mean();
  std::vector<Eigen::Index> chosen(1);
  (points.colwise() - centre).colwise().squaredNorm().maxCoeff(&chosen[0]);
  Eigen::RowVectorXd distance = (points.colwise() - points.col(chosen[0])).colwise().squaredNorm();
  while (static_cast<Eigen::Index>(chosen.size()) < count) {
    Eigen::Index next = 0;
    distance.maxCoeff(&next);
    chosen.push_back(next);
    distance = distance.cwiseMin((points.colwise() - points.col(next)).colwise().squaredNorm());
  }
  return chosen;
}

}  // namespace sdm::pose
