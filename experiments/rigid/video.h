#pragma once

#include "experiments/registry.h"

namespace sdm::experiments {

/// The same race on real videos: the sequences of Debian's package visp-images-data where it is
/// installed, or in their place the one that the context names. Adds rows as for the rendered
/// sequences, a table and frames with the outlines.
void run_videos(const ExperimentContext& context, Results& results);

}  // namespace sdm::experiments
