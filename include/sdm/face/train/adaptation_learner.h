#pragma once

#include <cstdint>
#include <memory>

#include "sdm/face/adaptation.h"
#include "sdm/image/image_view.h"

namespace sdm::face {

struct AdaptationOptions {
  int starts = 4;  // of each face, as in training
  /// Samples farther off than this many units count less, as robust / error; 0: all the same.
  double robust = 0.04;
  std::uint64_t seed = 1;

  void validate() const;
};

/// Learns the state by a pass over the training faces with the finished model, a face at a time:
/// nothing but the sums is kept. Mirrored faces come free where the model has a mirror.
class AdaptationLearner {
 public:
  /// The model must outlive it.
  explicit AdaptationLearner(const Model& model, const AdaptationOptions& options = {});
  ~AdaptationLearner();

  /// Throws Error on an empty picture and on points that the model cannot have.
  void add(image::ByteView grey, const Shape& truth);
  /// Throws Error without any face.
  Adaptation finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sdm::face
