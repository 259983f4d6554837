#pragma once

#include <filesystem>

#include "experiments/registry.h"
#include "sdm/face/model.h"

namespace sdm::experiments {

/// How well the models tell which points are seen and right: on the faces of dev.csv, as they are
/// and with something before them (face/train/train_visibility.h). Adds rows and a table. Does
/// nothing where the folder has no dev.csv.
void measure_covered(const ExperimentContext& context, const std::filesystem::path& folder,
                     const std::vector<std::pair<std::string, const face::Model*>>& models,
                     Results& results);

}  // namespace sdm::experiments
