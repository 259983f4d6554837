#pragma once

#include <cmath>

#include "sdm/pose/points.h"
#include "sdm/pose/rotation.h"

namespace sdm::pose::test {

/// Five pairs of points and two on the mirror's plane, of which point 10 is a nose.
inline Points3 head() {
  Points3 points(3, 12);
  points << -1.2, 1.2, -0.8, 0.8, -0.3, 0.3, -0.5, 0.5, -1, 1, 0, 0,     //
      -0.6, -0.6, -0.65, -0.65, -0.6, -0.6, 0.5, 0.5, 0.7, 0.7, 0, 1.2,  //
      0.9, 0.9, 0.1, 0.1, 0, 0, 0, 0, 0.6, 0.6, -0.7, 0.1;
  points.colwise() -= points.rowwise().mean().eval();
  return points / std::sqrt(points.squaredNorm() / 12);
}

/// Its scaled orthographic picture.
inline Points2 image(const Points3& shape, const Rotation& rotation, double scale) {
  Points2 points = scale * (rotation.toRotationMatrix() * shape).topRows<2>();
  return points.colwise() + Eigen::Vector2d(200, 150);
}

}  // namespace sdm::pose::test
