#pragma once

#include <optional>

#include "sdm/pose/pose.h"

namespace sdm::pose {

/// How a head (or anything else of a known shape) is turned, seen by a camera nobody knows.
///
/// The axes are the image's: x right, y down, z away from the camera; a head of rotation identity
/// looks into the camera. rotation = Rx(-pitch) Ry(-yaw) Rz(roll), the order in which the head pose
/// sets of the 3DDFA family (AFLW2000-3D) are labelled:
///   yaw    > 0: the nose points to the right of the image
///   pitch  > 0: the nose points up
///   roll   > 0: the head leans clockwise in the image
struct HeadPose {
  double yaw = 0, pitch = 0, roll = 0;  // degrees; yaw within +-90
  Rotation rotation = Rotation::Identity();
  double scale = 0;                                    // pixels for one unit of the shape
  Eigen::Vector2d position = Eigen::Vector2d::Zero();  // pixel where the shape's origin stands
  double reprojection_error = 0;                       // weighted root mean square, pixels
};

/// The angles of a rotation, and back.
Eigen::Vector3d yaw_pitch_roll(const Rotation& rotation);
Rotation from_yaw_pitch_roll(const Eigen::Vector3d& degrees);

/// Head pose from landmarks: the rotation, scale and place under which the scaled orthographic
/// image of a shape comes closest to the points (weighted least squares). Faces are photographed
/// from several times their own depth and with unknown lenses, so perspective is left out.
/// The points enter by their moments only; the search that follows costs the same for any number.
class HeadPoseEstimator {
 public:
  /// `shape` and `weights` as learn_rigid_shape gives them; no weights: all alike. Throws Error on
  /// a shape that is not solid, or weights that are negative or not one a point.
  explicit HeadPoseEstimator(Points3 shape, Eigen::VectorXd weights = {});

  /// Missing points (NaN) are left out. Throws Error on another number of points, on fewer than
  /// four that are seen and have a weight, and on points that lie all in one place. Thread-safe.
  HeadPose estimate(const Points2& pixels) const;

  /// The same for points that may tell no pose, as in every frame of a video: nothing where they do
  /// not. Throws Error on another number of points alone. Thread-safe.
  std::optional<HeadPose> try_estimate(const Points2& pixels) const;

 private:
  Eigen::Index used(const Points2& pixels) const;

  Points3 shape_;
  Eigen::VectorXd weights_;
};

}  // namespace sdm::pose
