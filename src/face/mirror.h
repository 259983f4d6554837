#pragma once

#include <vector>

#include "sdm/base/types.h"

namespace sdm::face {

/// Throws Error naming a point, unless each point's partner is a point whose partner it is.
void require_mirror(const std::vector<int>& mirror, Index points);

}  // namespace sdm::face
