#pragma once

#include <vector>

#include "descent/train/ranks.h"
#include "sdm/face/train/trainer.h"

namespace sdm::face {

/// The faces, and after them options.turned copies of each, drawn turned by up to 70 degrees of yaw
/// and 35 of pitch, small turns more often than large ones. A face that looks to one side is turned
/// farther to that side: its other one was not seen. Copies are of their face's group and have its
/// boxes, moved with the points. Nothing where there are no copies.
/// Throws Error where the faces do not tell the points in space.
/// `truths` are the points of all faces; `share` tells which of them these are.
std::vector<TrainingFace> with_turned_copies(const std::vector<TrainingFace>& faces,
                                             const std::vector<Shape>& truths,
                                             const detail::Ranks::Share& share,
                                             const TrainerOptions& options);
/// The same where there are no others.
std::vector<TrainingFace> with_turned_copies(const std::vector<TrainingFace>& faces,
                                             const TrainerOptions& options);

}  // namespace sdm::face
