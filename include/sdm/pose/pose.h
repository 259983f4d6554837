#pragma once

#include "sdm/pose/camera.h"
#include "sdm/pose/rotation.h"

namespace sdm::pose {

/// Where an object stands: a point X of it is at Q X + t in the camera's frame.
struct Pose {
  Rotation rotation = Rotation::Identity();
  Eigen::Vector3d translation = Eigen::Vector3d::Zero();
};

/// First `second`, then `first`, as with matrices.
Pose compose(const Pose& first, const Pose& second);
Pose inverse(const Pose& pose);
/// Q X + t for every point.
Points3 transform(const Pose& pose, const Points3& points);

/// A pose found from an image, and how well it explains what was seen.
struct Estimate {
  Pose pose;
  /// Root mean square distance in pixels between seen and projected points; over the points in use.
  /// Infinite where the pose puts one of them behind the camera.
  double reprojection_error = 0;
  /// Points in use: seen, and not set aside as outliers.
  Eigen::Index points = 0;
};

}  // namespace sdm::pose
