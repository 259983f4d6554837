#pragma once

#include <vector>

#include "descent/train/ranks.h"
#include "sdm/face/train/trainer.h"

namespace sdm::face {

/// Points and boxes of the faces of all ranks, in their order: what is learned before any pixel is
/// looked at. Of more than kMostKnown faces evenly some, so that no rank needs room for all.
struct KnownFaces {
  static constexpr Index kMostKnown = 100'000;

  std::vector<Shape> truths;
  std::vector<std::vector<Box>> boxes;  // of each face, one a detector

  /// Called by all ranks together. `points` of a face; a rank may have none.
  static KnownFaces of(const std::vector<TrainingFace>& faces, Index points, std::size_t detectors,
                       detail::Ranks& ranks);
};

/// Scores that ranks tell each other at most, to learn probabilities and thresholds from.
inline constexpr Index kMostScores = 1'000'000;

/// The points of a face, on a rank without faces as well.
inline Index points_of(const std::vector<TrainingFace>& faces, detail::Ranks& ranks) {
  return ranks.world().maximum(faces.empty() ? 0 : faces.front().truth.cols());
}

}  // namespace sdm::face
