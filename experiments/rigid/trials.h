#pragma once

#include <functional>
#include <vector>

#include "experiments/registry.h"
#include "experiments/rigid/scene.h"

namespace sdm::experiments {

/// Single frames with a part of the template covered, and with another photograph in its place:
/// how often the corners are right, and whether the score tells. Adds rows and a table.
void run_trials(const ExperimentContext& context, const std::vector<Texture>& textures,
                Results& results, const std::function<void(double share)>& share);

}  // namespace sdm::experiments
