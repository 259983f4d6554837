#pragma once

#include "experiments/registry.h"
#include "experiments/rigid/scene.h"
#include "report/plot.h"

namespace sdm::experiments {

/// Baker and Matthews' test: how often does a method come home (below 1 px) when three points of
/// the template are moved by sigma px times unit normals? Adds rows (case, method,
/// "converged_fraction", sigma) and gives a chart for each case. `share` is told how far it is.
std::vector<Chart> run_convergence(const ExperimentContext& context,
                                   const std::vector<Texture>& textures, Results& results,
                                   const std::function<void(double)>& share);

}  // namespace sdm::experiments
