#include <algorithm>

#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/descent/train/train.h"

namespace sdm {

const Penalty& TrainOptions::penalty_of(int stage) const {
  if (stage_penalties.empty()) return penalty;
  return stage_penalties[std::min(static_cast<std::size_t>(stage), stage_penalties.size() - 1)];
}

void TrainOptions::validate() const {
  const auto require = [](bool good, const std::string& message) {
    if (!good) throw Error(message);
  };
  require(stages >= 1, formatted("stages is {}, expected at least 1", stages));
  require(folds >= 1, formatted("folds is {}, expected at least 1", folds));
  for (int stage = 0; stage < stages; ++stage) {
    penalty_of(stage).validate();
    require(penalty_of(stage).kind != Penalty::Kind::kHeldOut || folds >= 2,
            "a penalty chosen by held-out error needs at least 2 folds; folds is 1");
  }
  require(pca_energy > 0 && pca_energy <= 1,
          formatted("pca_energy is {}, expected more than 0 and at most 1", pca_energy));
  require(rank >= 0, formatted("rank is {}, expected 0 (whole maps) or more", rank));
  require(rank_tolerance >= 0,
          formatted("rank_tolerance is {}, expected 0 or more", rank_tolerance));
  require(rank_tolerance == 0 || (rank > 0 && folds >= 2),
          "rank_tolerance chooses the rank by held-out error, which needs rank > 0 and at least 2 "
          "folds");
  require(threads >= 0, formatted("threads is {}, expected 0 (all cores) or more", threads));
  require(feature_memory >= 0,
          formatted("feature_memory is {}, expected 0 (keep none) or more", feature_memory));
  require(chunk >= 0, formatted("chunk is {}, expected 0 (automatic) or more", chunk));
}

std::string TrainSummary::brief_report() const {
  if (stages.empty()) return "no stages";
  return formatted("{} samples, {} stages, error {:.6g} -> {:.6g} in {:.3g} s", samples,
                   stages.size(), stages.front().error_before, stages.back().error_after, seconds);
}

std::string TrainSummary::full_report() const {
  std::string text =
      brief_report() + "\n stage      error before       after    penalty  features\n";
  for (const StageSummary& s : stages) {
    text += formatted("{:6} {:17.6g} {:11.6g} {:10.3g} {:9}", s.stage, s.error_before,
                      s.error_after, s.penalty, s.features);
    if (!s.penalty_factors.empty()) {
      const auto [least, most] =
          std::minmax_element(s.penalty_factors.begin(), s.penalty_factors.end());
      if (*least < *most) text += formatted(", penalty factors {:.3g} to {:.3g}", *least, *most);
    }
    if (s.components != s.features) text += formatted(", {} components", s.components);
    if (s.rank > 0) text += formatted(", rank {}", s.rank);
    if (s.dual) text += ", dual form";
    text += '\n';
  }
  return text;
}

}  // namespace sdm
