#pragma once

#include "experiments/registry.h"

namespace sdm::experiments {

/// Without labelled faces: what the shipped model finds in photographs that Debian packages
/// install, that `./run demo` fetched, or that are in the folder context.data. Throws NoData: there
/// are none.
void show_photographs(const ExperimentContext& context, Results& results);

}  // namespace sdm::experiments
