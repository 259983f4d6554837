#pragma once

#include <cstdint>
#include <vector>

#include "descent/train/ranks.h"

namespace sdm::detail {

/// The folds of a training: groups of samples, dealt anew for every stage.
class Folds {
 public:
  /// `group_of_sample` are this rank's; groups are numbered across all ranks, and numbers may be
  /// left out. There are as many folds as wanted, or as groups if these are fewer.
  Folds(std::vector<Index> group_of_sample, int wanted, std::uint64_t seed, Ranks& ranks);

  int count() const { return count_; }

  /// The fold of each sample in a stage. Groups are dealt in a random order, so that folds differ
  /// by at most one group.
  std::vector<int> draw(int stage) const;

 private:
  std::vector<Index> group_of_sample_;
  std::vector<Index> present_;  // groups that have a sample on any rank
  Index groups_ = 0;
  int count_ = 1;
  std::uint64_t seed_;
};

}  // namespace sdm::detail
