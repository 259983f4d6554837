#include "sdm/pose/pose.h"

namespace sdm::pose {

Pose compose(const Pose& first, const Pose& second) {
  return {first.rotation * second.rotation,
          first.rotation * second.translation + first.translation};
}

Pose inverse(const Pose& pose) {
  const Rotation back = pose.rotation.conjugate();
  return {back, -(back * pose.translation)};
}

Points3 transform(const Pose& pose, const Points3& points) {
  return (pose.rotation.toRotationMatrix() * points).colwise() + pose.translation;
}

}  // namespace sdm::pose
