#pragma once

#include <functional>
#include <vector>

#include "sdm/base/thread_pool.h"
#include "sdm/face/train/trainer.h"

namespace sdm::face {

/// Learns the confidence of a finished model from trials on its training faces (trial.h): ridge
/// regression on good and failed fits, made a probability by logistic regression on every fifth
/// face, which a second ridge had not seen. Not known where too few fits are good or too few fail.
/// `progress` is told the share that is done. The same seed gives the same bits. The faces must
/// have the points of the model. With other ranks each brings its own faces, and all get the same.
Confidence learn_confidence(const Model& model, const std::vector<TrainingFace>& faces,
                            std::uint64_t seed, ThreadPool& pool,
                            const std::function<void(double share)>& progress = {},
                            Communicator* communicator = nullptr);

}  // namespace sdm::face
