// A user's program that hands Eigen's fixed-size types to the library and takes them back, by
// value, inside structs and in vectors, and frees a matrix that the library has allocated.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "sdm/pose/pose.h"
#include "sdm/rigid/region.h"

int main() {
  // As in a program whose compiler knows nothing above SSE2.
  static_assert(alignof(Eigen::Vector4d) == 16 && alignof(Eigen::Matrix4d) == 16);
  static_assert(alignof(sdm::pose::Pose) == 16 && alignof(sdm::rigid::Quad) == 16);

  double worst = 0;
  std::vector<sdm::pose::Pose> poses(7);
  for (std::size_t i = 0; i < poses.size(); ++i) {
    poses[i].rotation = sdm::pose::from_euler(Eigen::Vector3d(0.1, 0.2, 0.3) * double(i));
    poses[i].translation = Eigen::Vector3d(1, 2, 3) * double(i);
    const sdm::pose::Points3 points = sdm::pose::Points3::Random(3, 9);
    const sdm::pose::Points3 moved = sdm::pose::transform(poses[i], points);
    const sdm::pose::Points3 expected =
        (poses[i].rotation.toRotationMatrix() * points).colwise() + poses[i].translation;
    const sdm::pose::Pose none = sdm::pose::compose(poses[i], sdm::pose::inverse(poses[i]));
    worst = std::max({worst, (moved - expected).norm(), none.translation.norm(),
                      none.rotation.angularDistance(Eigen::Quaterniond::Identity())});
  }
  const sdm::rigid::Quad quad = sdm::rigid::quad_of_box(1, 2, 3, 4);
  const Eigen::Vector2d middle = quad.rowwise().mean();
  std::printf("worst error %g, middle of the box (%g, %g)\n", worst, middle.x(), middle.y());
  return worst < 1e-7 && (middle - Eigen::Vector2d(2, 3.5)).norm() < 1e-12 ? 0 : 1;
}
