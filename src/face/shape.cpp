#include "sdm/face/shape.h"

namespace sdm::face {

Eigen::AlignedBox2f bounds(const Eigen::Ref<const Shape>& points) {
  Eigen::AlignedBox2f box;
  for (Eigen::Index p = 0; p < points.cols(); ++p)
    if (points.col(p).allFinite()) box.extend(points.col(p));
  return box;
}

double mean_distance(const Eigen::Ref<const Shape>& points, const Eigen::Ref<const Shape>& truth) {
  double sum = 0, count = 0;
  for (Eigen::Index p = 0; p < truth.cols(); ++p) {
    if (!truth.col(p).allFinite()) continue;
    sum += static_cast<double>((points.col(p) - truth.col(p)).norm());
    ++count;
  }
  return sum / count;
}

}  // namespace sdm::face
