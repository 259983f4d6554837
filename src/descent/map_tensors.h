#pragma once

#include <string>
#include <vector>

#include "sdm/descent/online.h"

namespace sdm {

/// Maps as tensors "PREFIXstage0.right", ... of a model of any kind, and back.
template <class Scalar>
void put_maps(io::Model& model, const std::string& prefix,
              const std::vector<DescentMap<Scalar>>& maps);
/// Throws Error if a map is missing, or they do not move as many values.
template <class Scalar>
std::vector<DescentMap<Scalar>> get_maps(const io::Model& model, const std::string& prefix,
                                         int stages);

/// An inverse covariance as tensors "PREFIXinverse_covariance", "PREFIXmean", ..., and back. Throws
/// Error if it does not fit as many features, or is of an older version (no mean) and not positive
/// definite.
void put_inverse_covariance(io::Model& model, const std::string& prefix,
                            const InverseCovariance& inverse);
InverseCovariance get_inverse_covariance(const io::Model& model, const std::string& prefix,
                                         Index features);

}  // namespace sdm
