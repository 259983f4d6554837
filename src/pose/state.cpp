#include "pose/state.h"

#include <algorithm>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::pose {
namespace {

Rotation rotation_of(ConstVectorRef<double> x) { return {x[0], x[1], x[2], x[3]}; }

}  // namespace

CentredObject::CentredObject(const Points3& object, const Pose& centre)
    : mean(object.rowwise().mean()), depth((centre.rotation * mean + centre.translation).z()) {
  if (!(depth > 0))
    throw Error(formatted(
        "the object's centre is at depth {} at the centre of the range, expected a positive one",
        depth));
  points = (object.colwise() - mean) / depth;
}

Vector<double> CentredObject::to_state(const Pose& pose) const {
  const Eigen::Vector3d at = pose.rotation * mean + pose.translation;
  const Rotation& q = pose.rotation;
  Vector<double> x(state_size);
  x << q.w(), q.x(), q.y(), q.z(), at.x() / at.z(), at.y() / at.z(), at.z() / depth;
  return x;
}

Pose CentredObject::to_pose(ConstVectorRef<double> x) const {
  const Rotation q = rotation_of(x);
  return {q, Eigen::Vector3d(x[4], x[5], 1) * (x[6] * depth) - q * mean};
}

void state_features(const CentredObject& centred, const Points2& image, ConstVectorRef<double> x,
                    VectorRef<double> out) {
  const Eigen::Matrix3d q = rotation_of(x).toRotationMatrix();
  const Eigen::Vector3d centre = Eigen::Vector3d(x[4], x[5], 1) * x[6];
  for (Index i = 0; i < centred.points.cols(); ++i) {
    const Eigen::Vector3d point = q * centred.points.col(i) + centre;
    const Eigen::Vector2d h = point.head<2>() / std::max(point.z(), nearest);
    out.segment<2>(2 * i) = x[6] * (h - image.col(i));
  }
}

void state_difference(ConstVectorRef<double> x, ConstVectorRef<double> target,
                      VectorRef<double> out) {
  out.head<3>() = difference(rotation_of(x), rotation_of(target));
  out.segment<2>(3) = x[6] * (target.segment<2>(4) - x.segment<2>(4));
  out[5] = 1 - x[6] / target[6];
}

void state_step(ConstVectorRef<double> x, ConstVectorRef<double> delta, VectorRef<double> out) {
  const Rotation q = step(rotation_of(x), delta.head<3>());
  out.segment<2>(4) = x.segment<2>(4) + delta.segment<2>(3) / x[6];
  out[6] = x[6] / std::clamp(1 - delta[5], 0.1, 10.0);
  out.head<4>() << q.w(), q.x(), q.y(), q.z();
}

}  // namespace sdm::pose
