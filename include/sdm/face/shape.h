#pragma once

#include <Eigen/Geometry>

#include "sdm/base/types.h"

namespace sdm::face {

/// Landmarks of one face (or hand, or car): a column a point, x and y in pixels. The centre of the
/// top-left pixel is (0, 0). A point that is not known is NaN.
using Shape = Eigen::Matrix<float, 2, Eigen::Dynamic>;

/// What a detector gives: the top-left corner and the size in pixels.
struct Box {
  float x = 0, y = 0, width = 0, height = 0;
};

/// The tight box around the known points; empty where none is known.
Eigen::AlignedBox2f bounds(const Eigen::Ref<const Shape>& points);

/// The mean distance of the points from the true ones, where these are known; NaN where none is.
double mean_distance(const Eigen::Ref<const Shape>& points, const Eigen::Ref<const Shape>& truth);

}  // namespace sdm::face
