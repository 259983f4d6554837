#include <memory>

#include "c/head_pose.h"
#include "c/model.h"
#include "sdm/face/tracker.h"

namespace sdm::c {

sdm_head_pose head_pose_of(const pose::HeadPose& pose) {
  sdm_head_pose out{};
  out.yaw = pose.yaw;
  out.pitch = pose.pitch;
  out.roll = pose.roll;
  Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> rotation(out.rotation);
  rotation = pose.rotation.matrix();
  out.scale = pose.scale;
  out.position[0] = pose.position.x();
  out.position[1] = pose.position.y();
  out.reprojection_error = pose.reprojection_error;
  return out;
}

}  // namespace sdm::c

using sdm::c::guarded;
using sdm::c::options_of;
using sdm::c::require;

struct sdm_pose {
  std::shared_ptr<const sdm::pose::Estimator> estimator;
};

struct sdm_head {
  sdm::pose::HeadPoseEstimator estimator;
  int32_t points;
};

void sdm_pose_options_init(sdm_pose_options* options) {
  *options = {};
  options->size = sizeof(*options);
}

sdm_status sdm_pose_create(const sdm_model* model, sdm_pose** pose) {
  return guarded([&] {
    auto estimator = sdm::c::content_of<sdm::pose::Estimator>(model, "the model", "'pose'");
    require(pose, "pose");
    *pose = new sdm_pose{std::move(estimator)};
  });
}

void sdm_pose_free(sdm_pose* pose) { delete pose; }

sdm_status sdm_pose_points(const sdm_pose* pose, int32_t* points) {
  return guarded([&] {
    require(pose, "pose");
    require(points, "points");
    *points = static_cast<int32_t>(pose->estimator->object().cols());
  });
}

sdm_status sdm_pose_estimate(const sdm_pose* pose, const double* xy,
                             const sdm_pose_options* options, double result[7], double* error,
                             int32_t* used) {
  return guarded([&] {
    require(pose, "pose");
    require(xy, "xy");
    require(result, "result");
    const sdm_pose_options o = options_of(options, sdm_pose_options_init);
    const sdm::pose::Points2 pixels =
        Eigen::Map<const sdm::pose::Points2>(xy, 2, pose->estimator->object().cols());
    sdm::pose::RefineOptions refine;
    refine.steps = o.refine_steps;
    refine.outlier_pixels = o.outlier_pixels;
    const bool polished = o.refine_steps != 0 || o.outlier_pixels != 0;
    const sdm::pose::Estimate found =
        polished ? pose->estimator->estimate(pixels, refine) : pose->estimator->estimate(pixels);
    const Eigen::Quaterniond q(found.pose.rotation);
    const Eigen::Vector3d& t = found.pose.translation;
    const double values[7] = {q.w(), q.x(), q.y(), q.z(), t.x(), t.y(), t.z()};
    std::copy(std::begin(values), std::end(values), result);
    if (error != nullptr) *error = found.reprojection_error;
    if (used != nullptr) *used = static_cast<int32_t>(found.points);
  });
}

sdm_status sdm_pose_estimate_batch(const sdm_pose* pose, int64_t count, const float* xy,
                                   ptrdiff_t stride, int32_t refine_steps, float* results,
                                   float* errors) {
  return guarded([&] {
    require(pose, "pose");
    if (count < 0) throw sdm::Error(std::to_string(count) + " poses, expected 0 or more");
    if (count == 0) return;
    require(xy, "xy");
    require(results, "results");
    require(errors, "errors");
    const sdm::Index rows = 2 * pose->estimator->object().cols();
    if (stride == 0) stride = rows;
    if (stride < rows)
      throw sdm::Error("poses of " + std::to_string(rows) + " numbers lie " +
                       std::to_string(stride) + " apart");
    using Pixels = Eigen::Map<const sdm::Matrix<float>, 0, Eigen::OuterStride<>>;
    pose->estimator->estimate_batch(Pixels(xy, rows, count, Eigen::OuterStride<>(stride)),
                                    {.stages = 0, .refine_steps = refine_steps},
                                    Eigen::Map<sdm::Matrix<float>>(results, 7, count),
                                    Eigen::Map<sdm::Vector<float>>(errors, count));
  });
}

sdm_status sdm_head_create(int32_t points, const double* xyz, const double* weights,
                           sdm_head** head) {
  return guarded([&] {
    require(xyz, "xyz");
    require(head, "head");
    if (points < 1) throw sdm::Error(std::to_string(points) + " points, expected at least four");
    Eigen::VectorXd weight;
    if (weights != nullptr) weight = Eigen::Map<const Eigen::VectorXd>(weights, points);
    *head = new sdm_head{
        sdm::pose::HeadPoseEstimator(Eigen::Map<const sdm::pose::Points3>(xyz, 3, points), weight),
        points};
  });
}

sdm_status sdm_head_of(const sdm_model* model, sdm_head** head) {
  return guarded([&] {
    const auto face = sdm::c::face_of(model, "the model");
    require(head, "head");
    auto estimator = sdm::face::head_of(*face);
    if (!estimator) throw sdm::Error("the model does not know its points in space");
    *head = new sdm_head{std::move(*estimator), static_cast<int32_t>(face->points())};
  });
}

void sdm_head_free(sdm_head* head) { delete head; }

sdm_status sdm_head_estimate(const sdm_head* head, int32_t points, const double* xy,
                             sdm_head_pose* pose) {
  return guarded([&] {
    require(head, "head");
    require(xy, "xy");
    require(pose, "pose");
    if (points != head->points)
      throw sdm::Error(std::to_string(points) + " points, expected " +
                       std::to_string(head->points));
    *pose = sdm::c::head_pose_of(
        head->estimator.estimate(Eigen::Map<const sdm::pose::Points2>(xy, 2, points)));
  });
}
