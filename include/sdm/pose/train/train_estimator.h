#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sdm/descent/train/train.h"
#include "sdm/pose/estimator.h"

namespace sdm::pose {

struct TrainEstimatorOptions {
  Camera camera;
  PoseRange range;

  /// Standard deviation of the noise put on the training projections; the paper's variance is 4.
  double noise_pixels = 2;

  /// Maps in a cascade. The paper's cube gains little after 8.
  int stages = 10;

  /// Cells along each rotation axis; 0 takes one up to +-35 degrees and cells of at most 45 degrees
  /// beyond.
  int cells = 0;

  /// How far the training poses of a cell reach into its neighbours, so that a pose near the border
  /// is at home on both sides.
  double overlap_degrees = 6;

  /// Training poses of a cell, drawn evenly from its range.
  Index samples = 8000;

  /// Train on exactly these poses in place of drawn ones (the paper's grid). Needs a single cell.
  std::vector<Pose> poses;

  Penalty penalty = Penalty::relative(1e-6);
  std::uint64_t seed = 1;
  int threads = 0;
  std::string provenance;  // what the object is, for people

  void validate() const;
};

struct EstimatorTraining {
  Estimator estimator;
  std::vector<TrainSummary> cells;  // errors are rotation errors in degrees
};

/// Trains an estimator for an object. Throws Error on a degenerate object (see check_object), on
/// options that make no sense, and when a pose of the range puts a point behind the camera.
/// `progress(cells_done, cells)` is called after every cell.
EstimatorTraining train_estimator(const Points3& object, const TrainEstimatorOptions& options = {},
                                  const std::function<void(int, int)>& progress = {});

}  // namespace sdm::pose
