#pragma once

#include <string>

#include "sdm/descent/train.h"

namespace sdm::detail {

/// Everything a training needs to go on after a stage. Folds are drawn from the seed and the stage,
/// so no generator state is kept.
template <class Scalar>
struct Checkpoint {
  std::uint64_t fingerprint = 0;  // of the options, sizes, starts and targets
  Matrix<Scalar> states;
  std::vector<DescentMap<Scalar>> maps;
  std::vector<Matrix<Scalar>> inverse_covariances;
  std::vector<StageSummary> stages;
};

template <class Scalar>
void write_checkpoint(const std::string& path, const Checkpoint<Scalar>& checkpoint);

/// Throws Error if the file is not a checkpoint, or is one of another training (`fingerprint`).
template <class Scalar>
Checkpoint<Scalar> read_checkpoint(const std::string& path, std::uint64_t fingerprint);

}  // namespace sdm::detail
