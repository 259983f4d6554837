#pragma once

#include <string>
#include <vector>

#include "sdm/descent/cascade.h"

namespace sdm {

/// Maps as tensors "PREFIXstage0.right", ... of a model of any kind, and back.
template <class Scalar>
void put_maps(io::Model& model, const std::string& prefix,
              const std::vector<DescentMap<Scalar>>& maps);
/// Throws Error if a map is missing, or they do not move as many values.
template <class Scalar>
std::vector<DescentMap<Scalar>> get_maps(const io::Model& model, const std::string& prefix,
                                         int stages);

}  // namespace sdm
