#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sdm/face/recipe.h"
#include "sdm/face/shape.h"

namespace sdm::face {

/// Points that belong together, such as an eye: positions in the shape, not numbers of the markup.
struct Region {
  std::string name;
  std::vector<int> points;
};

/// What the points of a shape are. `ids` are the points' numbers in the full markup, so that shapes
/// with fewer points still say which they have.
struct Markup {
  std::vector<int> ids;
  std::vector<std::string> names;
  /// The position each point takes in the mirrored picture (left and right are the person's own).
  /// Empty where it is not known, or where a point's partner is not among the points.
  std::vector<int> mirror;
  std::vector<Region> regions;
  /// The outer eye corners, whose distance is the unit of a face; -1 where one is not among the
  /// points.
  std::pair<int, int> unit{-1, -1};

  /// The points of a region; empty where there is none of this name.
  std::vector<int> region(const std::string& name) const;
  /// What the trainer's presets make stages of; none where the regions are not known.
  FaceParts parts() const;
  int size() const { return int(ids.size()); }
};

/// The 68 points of iBUG (300-W) and their usual reductions:
///   68  jaw 0-16, brows 17-26, nose 27-35, eyes 36-47, outer lip 48-59, inner lip 60-67
///   66  without the inner mouth corners 60 and 64
///   51  without the jaw
///   49  without both: what the authors' own software gives
/// Throws: any other number.
Markup ibug(int points = 68);

/// These points of the 68, in this order. Throws: a number outside 0-67, or one that comes twice.
Markup ibug(const std::vector<int>& ids);

/// What is known of the points `ids` of faces that have the points `all`: all of it where these are
/// one of the markups above, in any order; else their numbers are their names.
Markup markup_of(const std::vector<int>& ids, const std::vector<int>& all);
inline Markup markup_of(const std::vector<int>& ids) { return markup_of(ids, ids); }

/// Reads a mirror of one's own: the position of each point's partner, from 0. Throws: the file
/// cannot be read; something in it is no whole number.
std::vector<int> read_mirror(const std::filesystem::path& path);

/// The points `to` of a shape that has the points `from`. A point that `from` lacks is NaN.
/// Throws: the shape has another size than `from`.
Shape select(const Shape& shape, const std::vector<int>& from, const std::vector<int>& to);

/// The shape in the mirrored picture of this width: x' = width - 1 - x, points permuted.
/// Throws: `mirror` has another size than the shape.
Shape mirrored(const Shape& shape, const std::vector<int>& mirror, int width);

}  // namespace sdm::face
