#pragma once

#include "sdm/base/types.h"
#include "sdm/face/similarity.h"

namespace sdm::face {

/// A one-euro filter (Casiez, Roussel, Vogel, 2012): a low-pass whose cutoff frequency grows with
/// the speed, so that what stands still does not tremble and what moves does not lag.
struct SmoothingOptions {
  double cutoff = 1.0;         // Hz, of what stands still; lower is calmer
  double speed_cutoff = 40.0;  // Hz more for each unit of the face a second; higher lags less
  double derivative = 2.0;     // Hz, the cutoff of the speed itself

  /// Throws Error naming a value that is not positive.
  void validate() const;
};

/// Smooths the landmarks of one face over time. The place of the face and the shape there have
/// speeds of their own: a face that is carried along keeps its expression calm. Allocates nothing
/// after construction.
class Smoother {
 public:
  explicit Smoother(const Shape& mean, const SmoothingOptions& options = {});

  /// The points at this time, in place. A time that does not go on starts afresh.
  void apply(Eigen::Ref<Shape> points, double seconds);
  void reset() { started_ = false; }

 private:
  SmoothingOptions options_;
  Shape mean_, shape_, raw_, speed_;
  Similarity frame_, raw_frame_;
  Eigen::Vector2f drift_, turn_;  // speeds of the face's place, and of its turn and size
  double seconds_ = 0;
  bool started_ = false;
};

}  // namespace sdm::face
