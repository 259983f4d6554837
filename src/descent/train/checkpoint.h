#pragma once

#include <string>

#include "descent/train/ranks.h"
#include "sdm/descent/train/train.h"

namespace sdm::detail {

/// Everything a training needs to go on after a stage. Folds are drawn from the seed and the stage,
/// so no generator state is kept.
template <class Scalar>
struct Checkpoint {
  std::uint64_t fingerprint = 0;
  Matrix<Scalar> states;
  std::vector<DescentMap<Scalar>> maps;
  std::vector<InverseCovariance> inverse_covariances;
  std::vector<StageSummary> stages;
};

/// What tells one training from another: the options, the sizes, the starts and targets, and what
/// the problem's own functions and the robust weight give for a few inputs.
template <class Scalar>
std::uint64_t fingerprint(const AnyProblem<Scalar>& problem, const Matrix<Scalar>& starts,
                          ConstMatrixRef<Scalar> targets, const TrainOptions& options,
                          const Communicator& world);

template <class Scalar>
void write_checkpoint(const std::string& path, const Checkpoint<Scalar>& checkpoint);

/// Throws Error if the file is not a checkpoint, or is one of another training (`fingerprint`).
template <class Scalar>
Checkpoint<Scalar> read_checkpoint(const std::string& path, std::uint64_t fingerprint);

/// The checkpoints of one training; does nothing where none are wanted. Ranks keep a file for each
/// stage until all have written the next one, so that a stage which all of them have always exists.
/// A process alone replaces its one file.
template <class Scalar>
class CheckpointFiles {
 public:
  CheckpointFiles(const AnyProblem<Scalar>& problem, const Matrix<Scalar>& starts,
                  ConstMatrixRef<Scalar> targets, const TrainOptions& options, Ranks& ranks);

  /// Takes up the training where the last file left it, if there is one.
  void resume(Matrix<Scalar>& states, TrainResult<Scalar>& result);
  void save(const Matrix<Scalar>& states, const TrainResult<Scalar>& result);

 private:
  std::string path(Index stage) const;
  /// Throws Error where the maps do not fit the training.
  void check(const Checkpoint<Scalar>& checkpoint, const std::string& path) const;

  std::string path_;
  int stages_;
  Index delta_size_ = 0;
  std::vector<Index> feature_sizes_;  // of each stage
  Ranks& ranks_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace sdm::detail
