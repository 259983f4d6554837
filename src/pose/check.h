#pragma once

#include <cmath>

#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/pose/object.h"

namespace sdm::pose {

inline bool is_seen(const Points2& points, Eigen::Index i) {
  return !std::isnan(points(0, i)) && !std::isnan(points(1, i));
}

inline void check_sizes(const Points3& object, const Points2& points) {
  if (points.cols() != object.cols())
    throw Error(formatted("{} image points for an object of {} points, expected one for each",
                          points.cols(), object.cols()));
}

/// Sizes that match, no infinite coordinate, and enough points seen.
inline void check_image(const Points3& object, const Points2& points) {
  check_sizes(object, points);
  Eigen::Index seen = 0;
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    if (points.col(i).array().isInf().any())
      throw Error(formatted("image point {} is infinite, expected a number, or NaN if unseen", i));
    seen += is_seen(points, i);
  }
  if (seen < least_points)
    throw Error(formatted("{} of {} image points are seen, expected at least {}", seen,
                          points.cols(), least_points));
}

}  // namespace sdm::pose
