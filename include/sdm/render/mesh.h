#pragma once

#include <array>
#include <vector>

#include "sdm/base/types.h"

namespace sdm::render {

/// Points in space, one a column; x to the right, y up, z towards the viewer.
using Points = Eigen::Matrix3Xf;
using Triangle = std::array<int, 3>;

/// A place on a surface: the weighted mean of three vertices.
struct SurfacePoint {
  Triangle vertices{0, 0, 0};
  std::array<float, 3> weights{1, 0, 0};

  Eigen::Vector3f at(const Points& points) const;
};

/// Of each vertex, of length 1: the mean of its triangles' normals by their area. Zero where it has
/// none.
Points normals(const Points& points, const std::vector<Triangle>& triangles);

}  // namespace sdm::render
