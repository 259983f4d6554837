#pragma once

#include "sdm/pose/pose.h"

namespace sdm::pose {

/// h = g2 o g1 (section "A SDM Solution"): g1 moves the points in front of the camera, g2 divides
/// by depth. In normalised coordinates. A point at or behind the camera becomes NaN: not seen.
Points2 project(const Points3& object, const Pose& pose);
/// The same in pixels.
Points2 project(const Points3& object, const Pose& pose, const Camera& camera);

/// How well a pose explains an image (see Estimate): needs as many pixels as object points.
Estimate evaluate(const Points3& object, const Camera& camera, const Points2& pixels,
                  const Pose& pose);

}  // namespace sdm::pose
