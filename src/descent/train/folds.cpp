#include "descent/train/folds.h"

#include <algorithm>

#include "sdm/base/random.h"

namespace sdm::detail {

Folds::Folds(std::vector<Index> group_of_sample, int wanted, std::uint64_t seed, Ranks& ranks)
    : group_of_sample_(std::move(group_of_sample)), seed_(seed) {
  for (const Index group : group_of_sample_) groups_ = std::max(groups_, group + 1);
  groups_ = ranks.world().maximum(groups_);
  std::vector<float> samples(static_cast<std::size_t>(groups_), 0.0F);
  for (const Index group : group_of_sample_) samples[static_cast<std::size_t>(group)] = 1.0F;
  ranks.sum(std::span(samples));
  for (Index group = 0; group < groups_; ++group)
    if (samples[static_cast<std::size_t>(group)] > 0) present_.push_back(group);
  count_ = static_cast<int>(std::min(static_cast<std::size_t>(wanted), present_.size()));
}

std::vector<int> Folds::draw(int stage) const {
  std::vector<Index> order = present_;
  Random random(seed_, "folds", static_cast<std::uint64_t>(stage));
  shuffle(order, random);
  std::vector<int> fold_of_group(static_cast<std::size_t>(groups_), 0);
  for (std::size_t i = 0; i < order.size(); ++i)
    fold_of_group[static_cast<std::size_t>(order[i])] =
        static_cast<int>(i % static_cast<std::size_t>(count_));
  std::vector<int> folds;
  folds.reserve(group_of_sample_.size());
  for (const Index group : group_of_sample_)
    folds.push_back(fold_of_group[static_cast<std::size_t>(group)]);
  return folds;
}

}  // namespace sdm::detail
