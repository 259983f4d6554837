#include "sdm/pose/camera.h"

#include <cmath>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::pose {

void Camera::validate() const {
  for (const double focal : {fx, fy})
    if (!(focal > 0 && std::isfinite(focal)))
      throw Error(
          formatted("the camera's focal length is {} px, expected a positive number", focal));
  for (const double centre : {cx, cy})
    if (!std::isfinite(centre))
      throw Error(formatted("the camera's principal point has {} px, expected a number", centre));
}

Points2 normalise(const Camera& camera, const Points2& pixels) {
  const Eigen::Array2d focal(camera.fx, camera.fy);
  const Eigen::Vector2d centre(camera.cx, camera.cy);
  return ((pixels.colwise() - centre).array().colwise() / focal).matrix();
}

Points2 to_pixels(const Camera& camera, const Points2& normalised) {
  const Eigen::Array2d focal(camera.fx, camera.fy);
  const Eigen::Vector2d centre(camera.cx, camera.cy);
  return (normalised.array().colwise() * focal).matrix().colwise() + centre;
}

}  // namespace sdm::pose
