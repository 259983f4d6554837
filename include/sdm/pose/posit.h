#pragma once

#include "sdm/base/types.h"
#include "sdm/pose/pose.h"

namespace sdm::pose {

/// POSIT (DeMenthon and Davis, 1995), the paper's baseline: pose from a scaled orthographic
/// projection, whose image points are corrected for perspective and solved again until they stand.
/// Not learned; needs an object that is not planar.
class Posit {
 public:
  /// What stands for the object in the scaled orthographic projection.
  enum class Reference {
    kFirstPoint,  // the original: the first object point, whose noise then enters every equation
    kCentroid     // the mean of object and image points: the same cost, less noise
  };

  struct Options {
    int iterations = 30;
    double tolerance = 1e-3;  // of the perspective corrections; less gains no accuracy
    Reference reference = Reference::kFirstPoint;
  };

  /// Throws Error on a planar object.
  explicit Posit(const Points3& object);
  Posit(const Points3& object, const Options& options);

  /// The pose for image points in normalised coordinates, all of them seen. Allocates nothing for
  /// up to 32 points. Throws Error on another number of points. Thread-safe.
  Pose estimate(const Points2& normalised) const;

 private:
  Options options_;
  Eigen::Vector3d reference_;
  Points3 vectors_;   // from the reference to every point
  Points3 solution_;  // pseudo-inverse of vectors_^T
};

}  // namespace sdm::pose
