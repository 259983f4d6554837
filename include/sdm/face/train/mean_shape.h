#pragma once

#include <span>
#include <utility>
#include <vector>

#include "sdm/face/model.h"
#include "sdm/face/shape.h"

namespace sdm::face {

/// The points whose distance is the unit of a face. {-1, -1}: half the diagonal of the mean shape's
/// box, which for a face is about the same and exists for anything.
using UnitPoints = std::pair<int, int>;

/// The Procrustes mean: shapes aligned by similarities, averaged, aligned again; made symmetric and
/// upright where a mirror is given, else turned as the shapes are on average. The centre of its box
/// is 0 and its unit is 1. Throws Error if the sizes differ, a point is known nowhere, the mirror
/// does not pair the points (counted from 0), or the unit names a point that is not there.
Shape mean_shape(std::span<const Shape> shapes, const std::vector<int>& mirror, UnitPoints unit);

/// The shape with missing points put where the mean shape has them.
Shape complete(const Shape& shape, const Shape& mean);

/// How the boxes of a detector lie around the shapes; a box without width was not found. Boxes that
/// miss their face by more than half a unit do not count. Throws Error with fewer than two others.
BoxConvention measure_convention(const std::string& detector, std::span<const Shape> shapes,
                                 std::span<const Box> boxes, const Shape& mean);

}  // namespace sdm::face
