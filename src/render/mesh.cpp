#include "sdm/render/mesh.h"

#include <Eigen/Geometry>

namespace sdm::render {

Eigen::Vector3f SurfacePoint::at(const Points& points) const {
  return weights[0] * points.col(vertices[0]) + weights[1] * points.col(vertices[1]) +
         weights[2] * points.col(vertices[2]);
}

Points normals(const Points& points, const std::vector<Triangle>& triangles) {
  Points sums = Points::Zero(3, points.cols());
  for (const Triangle& t : triangles) {
    const Eigen::Vector3f a = points.col(t[0]);
    const Eigen::Vector3f normal =
        Eigen::Vector3f(points.col(t[1]) - a).cross(Eigen::Vector3f(points.col(t[2]) - a));
    for (const int corner : t) sums.col(corner) += normal;
  }
  for (Index i = 0; i < sums.cols(); ++i) {
    const float length = sums.col(i).norm();
    if (length > 0) sums.col(i) /= length;
  }
  return sums;
}

}  // namespace sdm::render
