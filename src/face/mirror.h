#pragma once

#include <vector>

#include "sdm/base/types.h"

namespace sdm::face {

/// Throws Error naming a point, unless each point's partner is a point whose partner it is.
void require_mirror(const std::vector<int>& mirror, Index points);

/// The mirror of a part of the points, which are counted as they stand in `part` (empty: all, the
/// mirror itself; without a mirror: none). Throws Error naming a point whose partner is not in it.
std::vector<int> part_mirror(const std::vector<int>& part, const std::vector<int>& mirror);

}  // namespace sdm::face
