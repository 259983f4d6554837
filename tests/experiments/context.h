#pragma once

#include "experiments/registry.h"

namespace sdm::experiments {

/// A context that finds the models of the source tree.
inline ExperimentContext source_context() {
  ExperimentContext context;
  context.shipped_file = [](const std::string& name) {
    return std::filesystem::path(SDM_MODELS) / name;
  };
  return context;
}

}  // namespace sdm::experiments
