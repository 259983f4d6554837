#pragma once

#include <functional>
#include <vector>

#include "sdm/base/thread_pool.h"
#include "sdm/face/train/trainer.h"

namespace sdm::face {

/// A point is right if it is off by less than this many units.
inline constexpr float kRightPoint = 0.1F;
/// How often each face is shown to learn the points' visibility: as it is, then covered.
inline constexpr int kVisibilityTrials = 3;

/// A face as a visibility is learned from it and measured on: the picture with something before the
/// face in all trials but the first, and a start near it; of each point, whether it is not covered.
struct CoveredFace {
  image::Image<std::uint8_t> picture;
  Similarity start;
  std::vector<bool> bare;
};
/// `others` have what covers it. The same for the same seed and numbers. Thread-safe.
/// `first_face` is the number of the first of them across all ranks.
CoveredFace covered_face(const std::vector<TrainingFace>& others, const Model& model,
                         std::size_t number, int trial, std::uint64_t seed,
                         std::size_t first_face = 0);

/// Learns the points' visibility of a finished model on its training faces, some of them covered:
/// for each point ridge regression on whether it is bare and right, made a probability by logistic
/// regression on every fifth face, which a second ridge had not seen. Not known where too few
/// points are of either kind. The same seed gives the same bits.
Visibility learn_visibility(const Model& model, const std::vector<TrainingFace>& faces,
                            std::uint64_t seed, ThreadPool& pool,
                            const std::function<void(double share)>& progress = {},
                            Communicator* communicator = nullptr);

}  // namespace sdm::face
