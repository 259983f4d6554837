#pragma once

#include <filesystem>

#include "experiments/registry.h"

namespace sdm::experiments {

/// The paper's own 29 points of LFPW, learned on the shipped 68-point model: no labels of the
/// training pictures exist any more, so 10-fold cross-validation over the labelled test pictures,
/// fold = row number modulo 10. Adds rows, exhibits and a claim. Does nothing where the folder has
/// no lfpw_test_29.csv.
void measure_29_points(const ExperimentContext& context, const std::filesystem::path& folder,
                       Results& results);

}  // namespace sdm::experiments
