#include "c/model.h"
#include "c/train/progress.h"
#include "sdm/pose/train/train_estimator.h"

using sdm::c::guarded;
using sdm::c::options_of;
using sdm::c::require;

void sdm_pose_train_options_init(sdm_pose_train_options* options) {
  const sdm::pose::TrainEstimatorOptions defaults;
  *options = {};
  options->size = sizeof(*options);
  options->fx = defaults.camera.fx;
  options->fy = defaults.camera.fy;
  options->cx = defaults.camera.cx;
  options->cy = defaults.camera.cy;
  for (int axis = 0; axis < 3; ++axis) {
    options->centre[axis] = defaults.range.centre.translation[axis];
    options->rotation[axis] = defaults.range.rotation_degrees[axis];
    options->translation[axis] = defaults.range.translation[axis];
  }
  options->noise_pixels = defaults.noise_pixels;
  options->stages = defaults.stages;
  options->cells = defaults.cells;
  options->samples = defaults.samples;
  options->seed = defaults.seed;
  options->threads = defaults.threads;
}

sdm_status sdm_pose_train(int32_t points, const double* xyz, const sdm_pose_train_options* options,
                          sdm_model** model) {
  return guarded([&] {
    require(xyz, "xyz");
    require(model, "model");
    if (points < 1) throw sdm::Error(std::to_string(points) + " points, expected at least four");
    const sdm_pose_train_options o = options_of(options, sdm_pose_train_options_init);
    sdm::pose::TrainEstimatorOptions training;
    training.camera = {o.fx, o.fy, o.cx, o.cy};
    training.range.centre.translation = Eigen::Map<const Eigen::Vector3d>(o.centre);
    training.range.rotation_degrees = Eigen::Map<const Eigen::Vector3d>(o.rotation);
    training.range.translation = Eigen::Map<const Eigen::Vector3d>(o.translation);
    training.noise_pixels = o.noise_pixels;
    training.stages = o.stages;
    training.cells = o.cells;
    training.samples = o.samples;
    training.seed = o.seed;
    training.threads = o.threads;
    training.provenance = sdm::c::text_or(o.provenance, "");
    const sdm::c::Progress progress(o.progress, o.progress_user);
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    progress("learning", 0, unknown);
    *model = sdm::c::make_model_of(
        sdm::pose::train_estimator(
            Eigen::Map<const sdm::pose::Points3>(xyz, 3, points), training,
            [&](int done, int cells) { progress("learning", double(done) / cells, unknown); })
            .estimator);
  });
}
