#pragma once

#include "sdm/base/types.h"

namespace sdm::pose {

/// Points of an object, in its own units (millimetres in the paper); one point a column.
using Points3 = Eigen::Matrix3Xd;
/// Points of an image, one a column. A point with a NaN coordinate was not seen.
using Points2 = Eigen::Matrix2Xd;

}  // namespace sdm::pose
