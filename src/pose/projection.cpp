#include "sdm/pose/projection.h"

#include <cmath>
#include <limits>

#include "pose/check.h"

namespace sdm::pose {

Points2 project(const Points3& object, const Pose& pose) {
  const Points3 seen = transform(pose, object);
  Points2 image(2, object.cols());
  for (Eigen::Index i = 0; i < object.cols(); ++i) {
    if (seen(2, i) > 0)
      image.col(i) = seen.col(i).head<2>() / seen(2, i);
    else
      image.col(i).setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  return image;
}

Points2 project(const Points3& object, const Pose& pose, const Camera& camera) {
  return to_pixels(camera, project(object, pose));
}

Estimate evaluate(const Points3& object, const Camera& camera, const Points2& pixels,
                  const Pose& pose) {
  check_sizes(object, pixels);
  const Points2 image = project(object, pose, camera);
  Estimate estimate{pose, 0, 0};
  for (Eigen::Index i = 0; i < pixels.cols(); ++i) {
    if (!is_seen(pixels, i)) continue;
    ++estimate.points;
    estimate.reprojection_error += is_seen(image, i) ? (image.col(i) - pixels.col(i)).squaredNorm()
                                                     : std::numeric_limits<double>::infinity();
  }
  estimate.reprojection_error =
      std::sqrt(estimate.reprojection_error / static_cast<double>(estimate.points));
  return estimate;
}

}  // namespace sdm::pose
