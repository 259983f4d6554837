#include "sdm/face/data/markup.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::face {
namespace {

constexpr int kPoints = 68;

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

Markup ibug(int points) {
  if (points != 68 && points != 66 && points != 51 && points != 49)
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
  return markup;
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
