#pragma once

#include "sdm/pose/pose.h"

namespace sdm::pose {

struct RefineOptions {
  /// Gauss-Newton steps; they stop early when the pose stands still.
  int steps = 3;
  /// 0: least squares over the seen points. Otherwise points that end farther than about this many
  /// pixels from their projection lose their say: the steps minimise the Geman-McClure error, first
  /// smoothed until it is nearly quadratic, then ever less (graduated non-convexity; its steps come
  /// on top of `steps`). Stands up to about a third of outliers.
  double outlier_pixels = 0;

  void validate() const;
};

/// Gauss-Newton on the reprojection error in normalised coordinates, from a start near the answer.
/// Gives the best pose met. Missing points (NaN) are left out. Throws Error on fewer than four seen
/// points or sizes that do not match. Thread-safe.
Estimate refine(const Points3& object, const Camera& camera, const Points2& pixels,
                const Pose& start, const RefineOptions& options = {});

}  // namespace sdm::pose
