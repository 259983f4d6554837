#include "sdm/pose/head_pose.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/formatted.h"
#include "pose/check.h"
#include "pose/scaled_orthography.h"

namespace sdm::pose {
namespace {

constexpr double radians = std::numbers::pi / 180;

}  // namespace

Eigen::Vector3d yaw_pitch_roll(const Rotation& rotation) {
  const Eigen::Matrix3d q = rotation.toRotationMatrix();
  return Eigen::Vector3d(-std::asin(std::clamp(q(0, 2), -1.0, 1.0)), std::atan2(q(1, 2), q(2, 2)),
                         std::atan2(-q(0, 1), q(0, 0))) /
         radians;
}

Rotation from_yaw_pitch_roll(const Eigen::Vector3d& degrees) {
  return Eigen::AngleAxisd(-degrees.y() * radians, Eigen::Vector3d::UnitX()) *
         Eigen::AngleAxisd(-degrees.x() * radians, Eigen::Vector3d::UnitY()) *
         Eigen::AngleAxisd(degrees.z() * radians, Eigen::Vector3d::UnitZ());
}

HeadPoseEstimator::HeadPoseEstimator(Points3 shape, Eigen::VectorXd weights)
    : shape_(std::move(shape)), weights_(std::move(weights)) {
  check_object(shape_);
  if (dimension(shape_) < 3)
    throw Error(
        "the shape's points lie in one plane, expected points in space: without a camera a plane "
        "has two poses");
  if (weights_.size() == 0) weights_ = Eigen::VectorXd::Ones(shape_.cols());
  if (weights_.size() != shape_.cols())
    throw Error(formatted("{} weights for a shape of {} points, expected one for each",
                          weights_.size(), shape_.cols()));
  for (Eigen::Index i = 0; i < weights_.size(); ++i)
    if (!(weights_[i] >= 0 && std::isfinite(weights_[i])))
      throw Error(formatted("the weight of point {} is {}, expected 0 or more", i, weights_[i]));
}

Eigen::Index HeadPoseEstimator::used(const Points2& pixels) const {
  Eigen::Index count = 0;
  for (Eigen::Index i = 0; i < pixels.cols(); ++i) count += is_seen(pixels, i) && weights_[i] > 0;
  return count;
}

HeadPose HeadPoseEstimator::estimate(const Points2& pixels) const {
  check_image(shape_, pixels);
  if (used(pixels) < least_points)
    throw Error(formatted("{} of {} image points are seen and have a weight, expected at least {}",
                          used(pixels), pixels.cols(), least_points));
  if (const std::optional<HeadPose> head = try_estimate(pixels)) return *head;
  throw Error("the image points do not tell a pose, expected points that spread as the shape's");
}

std::optional<HeadPose> HeadPoseEstimator::try_estimate(const Points2& pixels) const {
  check_sizes(shape_, pixels);
  if (used(pixels) < least_points) return {};
  const ScaledView view = fit_view(shape_, pixels, weights_);
  if (!(view.scale > 0 && std::isfinite(view.scale) && view.rotation.allFinite())) return {};

  HeadPose head;
  head.rotation = Rotation(view.rotation);
  const Eigen::Vector3d angles = yaw_pitch_roll(head.rotation);
  head.yaw = angles[0];
  head.pitch = angles[1];
  head.roll = angles[2];
  head.scale = view.scale;
  head.position = view.position;
  double sum = 0, total = 0;
  for (Eigen::Index i = 0; i < pixels.cols(); ++i) {
    if (!is_seen(pixels, i)) continue;
    const Eigen::Vector2d image =
        view.scale * (view.rotation * shape_.col(i)).head<2>() + view.position;
    sum += weights_[i] * (image - pixels.col(i)).squaredNorm();
    total += weights_[i];
  }
  head.reprojection_error = std::sqrt(sum / total);
  return head;
}

}  // namespace sdm::pose
