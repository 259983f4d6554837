#pragma once

#include "sdm/pose/points.h"

namespace sdm::pose {

/// A pinhole camera without skew. It looks along +z, x goes right, y goes down. Lens distortion is
/// not part of it: undistort the points first.
struct Camera {
  double fx = 1000, fy = 1000;  // focal length in pixels
  double cx = 500, cy = 500;    // principal point

  /// Throws Error on a focal length that is not positive, or a number that is not finite.
  void validate() const;
};

/// The paper's normalised coordinates ((u - u0)/fx, (v - v0)/fy), in which the descent, POSIT and
/// Gauss-Newton work.
Points2 normalise(const Camera& camera, const Points2& pixels);
/// Back to pixels.
Points2 to_pixels(const Camera& camera, const Points2& normalised);

}  // namespace sdm::pose
