#include "sdm/pose/train/train_estimator.h"

#include <cmath>
#include <numbers>

#include "base/formatted.h"
#include "pose/check.h"
#include "pose/state.h"
#include "sdm/base/random.h"
#include "sdm/pose/projection.h"

namespace sdm::pose {
namespace {

constexpr double radians = std::numbers::pi / 180;

/// Reversed SDM: every sample has its own template, its noisy projection.
class PoseProblem {
 public:
  using Scalar = double;
  PoseProblem(const CentredObject& centred, std::vector<Points2> images)
      : centred_(centred), images_(std::move(images)) {}

  Index samples() const { return static_cast<Index>(images_.size()); }
  Index state_size() const { return pose::state_size; }
  Index delta_size() const { return pose::delta_size; }
  Index feature_size(int /*stage*/) const { return 2 * centred_.points.cols(); }
  bool template_known() const { return true; }
  void features(Index sample, int /*stage*/, ConstVectorRef<double> x,
                VectorRef<double> out) const {
    state_features(centred_, images_[static_cast<std::size_t>(sample)], x, out);
  }
  void difference(ConstVectorRef<double> x, ConstVectorRef<double> target,
                  VectorRef<double> out) const {
    state_difference(x, target, out);
  }
  void step(int /*stage*/, ConstVectorRef<double> x, ConstVectorRef<double> delta,
            VectorRef<double> out) const {
    state_step(x, delta, out);
  }
  double error(Index /*sample*/, ConstVectorRef<double> delta) const {
    return 2 * std::atan(delta.head<3>().norm() / 2) / radians;
  }

 private:
  const CentredObject& centred_;
  std::vector<Points2> images_;
};

/// Three numbers, even on [-1, 1).
Eigen::Vector3d even3(Random& random) {
  const double x = random.uniform(-1, 1), y = random.uniform(-1, 1), z = random.uniform(-1, 1);
  return {x, y, z};
}

}  // namespace

void TrainEstimatorOptions::validate() const {
  camera.validate();
  range.validate();
  if (!(noise_pixels >= 0 && std::isfinite(noise_pixels)))
    throw Error(formatted("noise_pixels is {}, expected 0 or more", noise_pixels));
  if (stages < 1) throw Error(formatted("{} stages, expected at least 1", stages));
  if (cells < 0 || cells > 32)
    throw Error(formatted("{} cells along an axis, expected 1 to 32, or 0 to choose", cells));
  if (!(overlap_degrees >= 0 && overlap_degrees <= 90))
    throw Error(formatted("overlap_degrees is {}, expected 0 to 90", overlap_degrees));
  if (samples < 1) throw Error(formatted("{} samples a cell, expected at least 1", samples));
  if (!poses.empty() && cells > 1)
    throw Error(formatted("{} cells along an axis with given poses, expected 1", cells));
}

EstimatorTraining train_estimator(const Points3& object, const TrainEstimatorOptions& options,
                                  const std::function<void(int, int)>& progress) {
  options.validate();
  check_object(object);
  const PoseRange& range = options.range;
  const CentredObject centred(object, range.centre);

  // Cells along each axis, all of them centred in equal parts of the range.
  Eigen::Array3i grid = Eigen::Array3i::Ones();
  for (int axis = 0; axis < 3 && options.poses.empty(); ++axis) {
    const double half = range.rotation_degrees[axis];
    if (options.cells > 0)
      grid[axis] = half > 0 ? options.cells : 1;
    else if (half > 35)
      grid[axis] = static_cast<int>(std::ceil(half / 22.5));
  }
  const Eigen::Vector3d half = range.rotation_degrees.array() / grid.cast<double>();
  const double margin = grid.prod() == 1 ? 0 : options.overlap_degrees;

  TrainOptions train_options;
  train_options.stages = options.stages;
  train_options.penalty = options.penalty;
  train_options.seed = options.seed;
  train_options.threads = options.threads;

  std::vector<Estimator::Cell> cells;
  std::vector<TrainSummary> summaries;
  for (int c = 0; c < grid.prod(); ++c) {
    const Eigen::Array3i at(c % grid[0], c / grid[0] % grid[1], c / (grid[0] * grid[1]));
    const Eigen::Vector3d middle =
        -range.rotation_degrees.array() + half.array() * (2 * at.cast<double>() + 1);
    Random random(options.seed, "pose samples", static_cast<std::uint64_t>(c));
    std::vector<Pose> poses = options.poses;
    for (Index i = 0; options.poses.empty() && i < options.samples; ++i) {
      const Eigen::Vector3d turn = even3(random), shift = even3(random);
      const Eigen::Vector3d angles =
          middle.array() + (half.array() > 0).select(half.array() + margin, 0) * turn.array();
      poses.push_back({from_euler(angles * radians) * range.centre.rotation,
                       range.centre.translation + range.translation.cwiseProduct(shift)});
    }

    Matrix<double> targets(state_size, static_cast<Index>(poses.size()));
    std::vector<Points2> images;
    images.reserve(poses.size());
    for (const Pose& pose : poses) {
      const double closest = transform(pose, object).row(2).minCoeff();
      if (!(closest > nearest * centred.depth)) {
        const Eigen::Vector3d angles = to_euler(pose.rotation) / radians;
        throw Error(formatted(
            "the pose with Euler angles ({:.1f}, {:.1f}, {:.1f}) degrees at ({:.4g}, {:.4g}, "
            "{:.4g}) "
            "puts a point of the object at depth {:.4g}, expected all points well in front of the "
            "camera: move the range away or make it smaller",
            angles.x(), angles.y(), angles.z(), pose.translation.x(), pose.translation.y(),
            pose.translation.z(), closest));
      }
      Points2 image = project(object, pose);
      for (Index i = 0; i < image.cols(); ++i) {
        image(0, i) += options.noise_pixels / options.camera.fx * random.normal();
        image(1, i) += options.noise_pixels / options.camera.fy * random.normal();
      }
      targets.col(static_cast<Index>(images.size())) = centred.to_state(pose);
      images.push_back(std::move(image));
    }

    Estimator::Cell& cell = cells.emplace_back();
    cell.start = from_euler(middle * radians) * range.centre.rotation;
    TrainResult<double> result =
        train(PoseProblem(centred, std::move(images)),
              Matrix<double>(centred.to_state({cell.start, range.centre.translation})), targets,
              train_options);
    cell.cascade = std::move(result.cascade);
    summaries.push_back(std::move(result.summary));
    if (progress) progress(c + 1, grid.prod());
  }
  return {Estimator(object, options.camera, range, std::move(cells), options.provenance),
          std::move(summaries)};
}

}  // namespace sdm::pose
