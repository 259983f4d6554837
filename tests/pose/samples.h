#pragma once

#include <numbers>
#include <random>
#include <vector>

#include "sdm/pose/object.h"
#include "sdm/pose/projection.h"

namespace sdm::pose::test {

inline constexpr double degree = std::numbers::pi / 180;

/// Poses drawn evenly from a box of Euler angles and translations around (0, 0, 2000).
inline std::vector<Pose> random_poses(int count, double degrees, double distance, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> even(-1, 1);
  std::vector<Pose> poses;
  for (int i = 0; i < count; ++i) {
    const double a = even(engine), b = even(engine), c = even(engine);
    const double x = even(engine), y = even(engine), z = even(engine);
    poses.push_back({from_euler(Eigen::Vector3d(a, b, c) * degrees * degree),
                     Eigen::Vector3d(0, 0, 2000) + distance * Eigen::Vector3d(x, y, z)});
  }
  return poses;
}

/// The image of an object with normal noise on every coordinate.
inline Points2 noisy_image(const Points3& object, const Pose& pose, const Camera& camera,
                           double sigma, std::mt19937& engine) {
  std::normal_distribution<double> normal;
  Points2 image = project(object, pose, camera);
  if (sigma > 0)
    for (double& value : image.reshaped()) value += sigma * normal(engine);
  return image;
}

inline double rotation_error(const Pose& a, const Pose& b) {
  return angle_between(a.rotation, b.rotation) / degree;
}
inline double translation_error(const Pose& a, const Pose& b) {
  return (a.translation - b.translation).norm();
}

}  // namespace sdm::pose::test
