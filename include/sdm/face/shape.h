#pragma once

#include <Eigen/Core>

namespace sdm::face {

/// Landmarks of one face (or hand, or car): a column a point, x and y in pixels. The centre of the
/// top-left pixel is (0, 0). A point that is not known is NaN.
using Shape = Eigen::Matrix<float, 2, Eigen::Dynamic>;

/// What a detector gives: the top-left corner and the size in pixels.
struct Box {
  float x = 0, y = 0, width = 0, height = 0;
};

}  // namespace sdm::face
