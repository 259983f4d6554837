#pragma once

#include <cstdint>
#include <vector>

#include "sdm/face/train/trainer.h"

namespace sdm::peers {

/// Drawn leaves with exact landmarks, to compare on where there are no pictures: tip, foot, end of
/// the stem, the place where two side veins leave the middle one, where these end on the left and
/// on the right, and a spot anywhere on the blade. Every leaf has another size, bend, width, turn
/// (up to 20 degrees), light and ground, and there is noise. 160 x 160 pixels; the box is the whole
/// picture. The same seed and number give the same leaf, whatever else is drawn.
face::TrainingFace draw_leaf(std::uint64_t seed, std::uint64_t number);

/// Leaves `first` to `first + count - 1`.
std::vector<face::TrainingFace> draw_leaves(std::uint64_t seed, int first, int count);

}  // namespace sdm::peers
