#include "sdm/pose/object.h"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <optional>

#include "base/formatted.h"
#include "base/numbers.h"
#include "sdm/base/error.h"

namespace sdm::pose {
namespace {

constexpr std::string_view spaces = " \t\r";

/// Takes the next word off the front of a line; empty at its end.
std::string_view next_word(std::string_view& line, std::string_view separators = spaces) {
  const std::size_t begin = std::min(line.find_first_not_of(separators), line.size());
  const std::size_t end = std::min(line.find_first_of(separators, begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

/// Calls `line(number, text)` for every line of a text.
template <class Line>
void each_line(std::string_view text, Line&& line) {
  for (Eigen::Index number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    line(number, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

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
  each_line(text, [&](Eigen::Index number, std::string_view line) {
    const std::string_view kind = next_word(line);
    if (kind == "v") {
      Eigen::Vector3d vertex;
      for (double& value : vertex) {
        const std::string_view word = next_word(line);
        const std::optional<double> parsed = parse_number(word);
        if (!parsed)
          throw Error(
              formatted("{}:{}: a vertex has \"{}\", expected three numbers", name, number, word));
        value = *parsed;
      }
      vertices.push_back(vertex);
      used.push_back(group.empty());
    } else if (kind == "g") {
      in_group = next_word(line) == group;
    } else if (kind == "f") {
      for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
        const std::string_view corner = word.substr(0, word.find('/'));
        // Indices count from 1; negative ones count back from the last vertex so far.
        const auto count = static_cast<double>(vertices.size());
        const double index = parse_number(corner).value_or(0);
        const double absolute = index < 0 ? count + index : index - 1;
        if (index == 0 || absolute != std::floor(absolute) || absolute < 0 || absolute >= count)
          throw Error(formatted("{}:{}: a face names vertex \"{}\", expected one of the {} so far",
                                name, number, word, vertices.size()));
        if (in_group) used[static_cast<std::size_t>(absolute)] = true;
      }
    }
  });
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
  each_line(text, [&](Eigen::Index number, std::string_view line) {
    constexpr std::string_view separators = ", ;\t\r";
    const std::string_view whole = line.substr(0, line.find('#'));
    line = whole;
    std::vector<double> values;
    std::size_t words = 0;
    for (std::string_view word = next_word(line, separators); !word.empty();
         word = next_word(line, separators)) {
      ++words;
      if (const std::optional<double> value = parse_number(word)) values.push_back(*value);
    }
    if (words == 0) return;
    if (words == 3 && values.size() == 3) {
      points.emplace_back(values[0], values[1], values[2]);
    } else if (!values.empty() || !heading_allowed) {
      throw Error(formatted("{}:{}: \"{}\", expected three numbers X, Y, Z", name, number, whole));
    }
    heading_allowed = false;
  });
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
