#pragma once

#include <Eigen/Core>

namespace sdm::pose {

/// Points of an object, in its own units (millimetres in the paper); one point a column.
using Points3 = Eigen::Matrix3Xd;
/// Points of an image, one a column. A point with a NaN coordinate was not seen.
using Points2 = Eigen::Matrix2Xd;

/// A pinhole camera without skew. It looks along +z, x goes right, y goes down. Lens distortion is
/// not part of it: undistort the points first.
struct Camera {
  double fx = 1000, fy = 1000;  // focal length in pixels
  double cx = 500, cy = 500;    // principal point

  /// Throws Error on a focal length that is not positive, or a number that is not finite.
  void validate() const;
};

/// The paper's normalised coordinates ((u - u0)/fx, (v - v0)/fy), in which all of `pose` works.
Points2 normalise(const Camera& camera, const Points2& pixels);
/// Back to pixels.
Points2 to_pixels(const Camera& camera, const Points2& normalised);

}  // namespace sdm::pose
