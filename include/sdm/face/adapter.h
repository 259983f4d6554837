#pragma once

#include <cstdint>

#include "sdm/descent/online.h"
#include "sdm/face/adaptation.h"

namespace sdm::face {

/// How much one corrected frame counts.
struct AdapterOptions {
  /// Of each start, in training samples: w of the paper. A model has seen some twenty thousand.
  double weight = 100;
  /// lambda of the paper, once a frame: what was known before, training data too, counts this much.
  double forgetting = 1;
  /// Places to start from in a frame: half as a detector would see the face, half as a tracker.
  int starts = 20;
  std::uint64_t seed = 1;

  void validate() const;
};

/// Teaches a model one person, or one camera, from a few corrected frames and without the training
/// data: recursive least squares on every stage (section "Online SDM"). The adapted model has the
/// same size and speed.
class Adapter {
 public:
  /// Throws Error if the state is of another model.
  Adapter(Model model, Adaptation state);

  /// Learns a frame in which the points are known (NaN: this one is not). After it fails nothing
  /// has changed. Throws Error naming what is wrong: an empty picture, another number of points,
  /// fewer than half of them known or inside the picture, or points that are no face.
  void update(image::ByteView grey, const Shape& truth, const AdapterOptions& options = {});

  const Model& model() const { return model_; }
  /// What to store with the adapted model so that it can learn further.
  Adaptation state() const;

 private:
  Model model_;
  OnlineCascade<double> online_;
  std::uint64_t frames_;  // learned so far: each draws starts of its own
};

}  // namespace sdm::face
