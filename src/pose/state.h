#pragma once

#include "sdm/base/types.h"
#include "sdm/pose/pose.h"

namespace sdm::pose {

/// The state of the descent: qw qx qy qz, and the object's centre as (x/z, y/z, z/depth). The
/// centre is the mean of its points and `depth` the distance of the range's centre, so that a state
/// has no units and single precision is enough.
inline constexpr Index state_size = 7;
inline constexpr Index delta_size = 6;

/// An object as the descent sees it: points around their mean, divided by `depth`.
struct CentredObject {
  Points3 points;
  Eigen::Vector3d mean;
  double depth = 1;

  CentredObject(const Points3& object, const Pose& centre);

  Vector<double> to_state(const Pose& pose) const;
  Pose to_pose(ConstVectorRef<double> state) const;
};

/// Nearest depth a point is projected from, as a share of CentredObject::depth. Keeps a pose that
/// went astray finite.
inline constexpr double nearest = 0.01;

/// (z/depth) (h(x) - U): the residual in the size it has at the object, so that one map serves all
/// depths. All points are seen.
void state_features(const CentredObject& centred, const Points2& image, ConstVectorRef<double> x,
                    VectorRef<double> out);
/// Deltas: three of the rotation (pose/rotation.h), two of the place in the image times z/depth,
/// and 1 - z/z*. `step` holds the change of depth within a factor of ten.
void state_difference(ConstVectorRef<double> x, ConstVectorRef<double> target,
                      VectorRef<double> out);
void state_step(ConstVectorRef<double> x, ConstVectorRef<double> delta, VectorRef<double> out);

}  // namespace sdm::pose
