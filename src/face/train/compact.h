#pragma once

#include <vector>

#include "sdm/descent/cascade.h"
#include "sdm/face/model.h"

namespace sdm::face {

/// Narrows a trained map for use. Throws Error if it does not treat both sides alike though there
/// is a mirror.
CompactMap compact(const DescentMap<float>& map, Index points, const StageRecipe& stage,
                   const std::vector<int>& mirror);

}  // namespace sdm::face
