#pragma once

#include <cstdint>
#include <vector>

#include "sdm/pose/estimator.h"

namespace sdm::pose {

/// An estimator in single precision, laid out for the kernel that runs one pose in every lane.
struct PackedEstimator {
  struct Cell {
    float start[7];                 // a state, see pose/state.h
    std::vector<float> projection;  // of every point in that state: u, v
    /// For every stage: the bias (6 numbers), then for every point the columns of R that take its
    /// u and v (12 numbers).
    std::vector<float> maps;
  };
  std::vector<float> points;  // x y z of every point of the frame
  float mean[3] = {};
  float depth = 1;
  Camera camera;
  int stages = 0;
  std::vector<Cell> cells;

  Index point_count() const { return static_cast<Index>(points.size()) / 3; }
  Index stage_size() const { return 6 + 12 * point_count(); }
};

/// Where a batch reads and writes; columns are `stride` numbers apart.
struct BatchSpan {
  const float* pixels;
  Index pixel_stride;
  float* poses;
  Index pose_stride;
  float* errors;
  Index count;
};

/// Poses with all points seen. One with a NaN among its pixels ends with the error NaN.
void run_batch(const PackedEstimator& model, const Estimator::BatchOptions& options,
               const BatchSpan& span);

}  // namespace sdm::pose
