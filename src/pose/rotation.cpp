#include "sdm/pose/rotation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sdm::pose {

Rotation from_euler(const Eigen::Vector3d& angles) {
  return Eigen::AngleAxisd(angles.z(), Eigen::Vector3d::UnitZ()) *
         Eigen::AngleAxisd(angles.y(), Eigen::Vector3d::UnitY()) *
         Eigen::AngleAxisd(angles.x(), Eigen::Vector3d::UnitX());
}

Eigen::Vector3d to_euler(const Rotation& rotation) {
  const Eigen::Matrix3d q = rotation.toRotationMatrix();
  const double cos_y = std::hypot(q(0, 0), q(1, 0));
  const double y = std::atan2(-q(2, 0), cos_y);
  if (cos_y < 1e-9) return {0, y, std::atan2(-q(0, 1), q(1, 1))};
  return {std::atan2(q(2, 1), q(2, 2)), y, std::atan2(q(1, 0), q(0, 0))};
}

Rotation step(const Rotation& rotation, const Eigen::Vector3d& delta) {
  return (Rotation(1, delta.x() / 2, delta.y() / 2, delta.z() / 2) * rotation).normalized();
}

Eigen::Vector3d difference(const Rotation& from, const Rotation& to) {
  const Rotation turn = to * from.conjugate();
  return 2 * turn.vec() / turn.w();
}

double angle_between(const Rotation& a, const Rotation& b) {
  const Rotation turn = a * b.conjugate();
  return 2 * std::atan2(turn.vec().norm(), std::abs(turn.w()));
}

}  // namespace sdm::pose
