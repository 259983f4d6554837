#pragma once

#include <string>
#include <vector>

#include "sdm/face/data/annotations.h"

namespace sdm::face {

/// What can be read but makes little sense.
struct Finding {
  std::string where;  // FILE:LINE, or the picture's name where that is not known
  std::string what;
};

/// Looks for points outside the picture, x and y swapped, boxes that look like corners (x1, y1, x2,
/// y2), boxes beside their points, and faces that are there twice. `sizes` are the pictures' of the
/// faces, without width where they are not known; empty: of none. In the order of the faces.
/// Throws: another number of sizes.
std::vector<Finding> check_sense(const Annotations& annotations,
                                 const std::vector<PictureSize>& sizes);

/// Throws: fewer faces than `needed`, or a point that fewer faces have, telling how many are
/// needed.
void require_enough(const Annotations& annotations, std::size_t needed);

}  // namespace sdm::face
