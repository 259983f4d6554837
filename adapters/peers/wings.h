#pragma once

#include <filesystem>
#include <vector>

#include "sdm/face/data/read_pictures.h"
#include "sdm/face/train/trainer.h"

namespace sdm::peers {

/// The fly wings of the data folder: wings.tps, and images/ beside it. The box is the whole
/// picture; by file, so that the order of specimens does not matter. Throws: what reading throws.
std::vector<face::TrainingFace> read_wings(const std::filesystem::path& folder,
                                           const face::PictureReader& read);

}  // namespace sdm::peers
