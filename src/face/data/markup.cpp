#include "sdm/face/data/markup.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/io/file.h"

namespace sdm::face {
namespace {

constexpr int kPoints = 68;
constexpr int kReductions[] = {68, 66, 51, 49};
constexpr std::pair kOuterEyeCorners{36, 45};

struct Range {
  const char* name;
  int first, last;
};
constexpr std::array<Range, 9> kRegions{{{"jaw", 0, 16},
                                         {"right_brow", 17, 21},
                                         {"left_brow", 22, 26},
                                         {"nose_bridge", 27, 30},
                                         {"nostrils", 31, 35},
                                         {"right_eye", 36, 41},
                                         {"left_eye", 42, 47},
                                         {"outer_lip", 48, 59},
                                         {"inner_lip", 60, 67}}};

// Runs of points whose numbers and their partners' add up to the same sum.
struct Run {
  int first, last, sum;
};
constexpr std::array<Run, 12> kMirror{{{0, 16, 16},
                                       {17, 26, 43},
                                       {27, 27, 54},
                                       {28, 28, 56},
                                       {29, 29, 58},
                                       {30, 30, 60},
                                       {31, 35, 66},
                                       {48, 54, 102},
                                       {55, 59, 114},
                                       {60, 64, 124},
                                       {65, 67, 132},
                                       {36, 39, 81}}};

int partner(int id) {
  for (const Run& run : kMirror)
    if (id >= run.first && id <= run.last) return run.sum - id;
  if (id >= 42 && id <= 45) return 81 - id;
  return 87 - id;  // lower lids: 40, 41 and 46, 47
}

}  // namespace

FaceParts Markup::parts() const {
  const auto joined = [&](const std::vector<std::string>& names) {
    std::vector<int> points;
    for (const std::string& one : names) {
      const std::vector<int> some = region(one);
      points.insert(points.end(), some.begin(), some.end());
    }
    std::sort(points.begin(), points.end());
    return points;
  };
  return {joined({"jaw"}), joined({"right_brow", "left_brow"}), joined({"nose_bridge", "nostrils"}),
          joined({"right_eye", "left_eye"}), joined({"outer_lip", "inner_lip"})};
}

std::vector<int> Markup::region(const std::string& name) const {
  for (const Region& one : regions)
    if (one.name == name) return one.points;
  return {};
}

Markup ibug(int points) {
  if (std::find(std::begin(kReductions), std::end(kReductions), points) == std::end(kReductions))
    throw Error(formatted("a markup of {} points, expected 68, 66, 51 or 49", points));
  std::vector<int> ids;
  for (int id = points > 60 ? 0 : 17; id < kPoints; ++id)
    if (points == 68 || points == 51 || (id != 60 && id != 64)) ids.push_back(id);
  return ibug(ids);
}

Markup ibug(const std::vector<int>& ids) {
  Markup markup;
  markup.ids = ids;
  std::vector<int> position(kPoints, -1);
  for (int i = 0; i < markup.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= kPoints)
      throw Error(formatted("point {} of the markup, expected 0 to 67", ids[i]));
    if (position[ids[i]] >= 0)
      throw Error(formatted("point {} of the markup is named twice", ids[i]));
    position[ids[i]] = i;
  }
  markup.names.resize(ids.size());
  for (const Range& range : kRegions) {
    Region region{range.name, {}};
    for (int id = range.first; id <= range.last; ++id) {
      if (position[id] < 0) continue;
      region.points.push_back(position[id]);
      markup.names[position[id]] = formatted("{}_{}", range.name, id - range.first);
    }
    if (!region.points.empty()) markup.regions.push_back(std::move(region));
  }
  for (int id : ids) markup.mirror.push_back(position[partner(id)]);
  if (std::count(markup.mirror.begin(), markup.mirror.end(), -1) > 0) markup.mirror.clear();
  const std::pair unit{position[kOuterEyeCorners.first], position[kOuterEyeCorners.second]};
  if (unit.first >= 0 && unit.second >= 0) markup.unit = unit;
  return markup;
}

Markup markup_of(const std::vector<int>& ids, const std::vector<int>& all) {
  for (const int points : kReductions) {
    const std::vector<int> known = ibug(points).ids;
    if (std::is_permutation(all.begin(), all.end(), known.begin(), known.end())) return ibug(ids);
  }
  Markup markup;
  markup.ids = ids;
  for (int id : ids) markup.names.push_back(std::to_string(id));
  return markup;
}

std::vector<int> read_mirror(const std::filesystem::path& path) {
  const TextLines file = io::read_lines(path);
  std::vector<int> mirror;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    for (const std::string& word : split_words(file.lines[i])) {
      const double partner = number_in(word).value_or(-1);
      if (partner < 0 || partner > 1e6 || partner != std::floor(partner))
        file.fail(i, formatted("'{:.40}', expected the position of a point's partner", word));
      mirror.push_back(static_cast<int>(partner));
    }
  }
  if (mirror.empty())
    throw Error(
        formatted("{}: no numbers, expected the position of each point's partner", path.string()));
  return mirror;
}

Shape select(const Shape& shape, const std::vector<int>& from, const std::vector<int>& to) {
  if (shape.cols() != Eigen::Index(from.size()))
    throw Error(formatted("a shape of {} points, expected {}", shape.cols(), from.size()));
  Shape selected =
      Shape::Constant(2, Eigen::Index(to.size()), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto found = std::find(from.begin(), from.end(), to[i]);
    if (found != from.end()) selected.col(Eigen::Index(i)) = shape.col(found - from.begin());
  }
  return selected;
}

Shape mirrored(const Shape& shape, const std::vector<int>& mirror, int width) {
  if (shape.cols() != Eigen::Index(mirror.size()))
    throw Error(formatted("a mirror permutation of {} points for a shape of {}", mirror.size(),
                          shape.cols()));
  Shape result(2, shape.cols());
  for (Eigen::Index i = 0; i < shape.cols(); ++i)
    result.col(mirror[std::size_t(i)]) << float(width - 1) - shape(0, i), shape(1, i);
  return result;
}

}  // namespace sdm::face
