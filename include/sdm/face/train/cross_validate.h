#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sdm/face/train/trainer.h"

namespace sdm::face {

/// Parts of about the same size, a number for each face; those of one group are in one part. Throws
/// Error on fewer than 2 parts, or more than there are groups.
std::vector<int> cross_validation_parts(const std::vector<TrainingFace>& faces, int parts,
                                        std::uint64_t seed);

/// Learns a model from the faces given; `part` is left out.
using Learn = std::function<Model(const std::vector<TrainingFace>& faces, int part)>;

/// What models find that were learned without a face's part: the points of every face, from its
/// first box, or where there is none from a place such as that detector gives.
std::vector<Shape> cross_validate(const std::vector<TrainingFace>& faces,
                                  const std::vector<int>& parts, std::uint64_t seed,
                                  const Learn& learn);

}  // namespace sdm::face
