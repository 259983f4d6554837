#pragma once

#include <Eigen/Geometry>

#include "sdm/base/types.h"

namespace sdm::pose {

/// An element of SO(3), as a unit quaternion.
using Rotation = Eigen::Quaterniond;

/// The paper's Euler angles (radians, about x, y and z): Q = Rz(z) Ry(y) Rx(x).
Rotation from_euler(const Eigen::Vector3d& angles);
/// The angles with |y| <= pi/2. Where |y| is pi/2 only the sum or difference of x and z is
/// determined; then x is 0.
Eigen::Vector3d to_euler(const Rotation& rotation);

/// How rotations move. `delta` is a rotation vector to first order, in the frame of the camera:
/// the new rotation is Cayley(delta) * rotation, where Cayley(delta) turns about `delta` by
/// 2 atan(|delta|/2). In place of the exponential map because it needs no sine or cosine, stays on
/// SO(3) as well, and has an exact inverse for every pair less than half a turn apart.
Rotation step(const Rotation& rotation, const Eigen::Vector3d& delta);
/// The delta that leads from one rotation to another: step(from, difference(from, to)) == to.
Eigen::Vector3d difference(const Rotation& from, const Rotation& to);

/// The angle of the rotation between two, in radians, 0 to pi.
double angle_between(const Rotation& a, const Rotation& b);

}  // namespace sdm::pose
