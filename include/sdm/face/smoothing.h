#pragma once

#include <array>

#include "sdm/base/types.h"
#include "sdm/face/similarity.h"

namespace sdm::face {

/// A running mean that forgets what is no longer true. What stands still is averaged over many
/// frames; a value further from the mean than its noise explains shortens the mean, down to the
/// value alone. The noise is what no smooth motion explains: fourth differences in time.
struct SmoothingOptions {
  double memory = 0.8;   // seconds that a mean goes back at most; longer is calmer
  double still = 3.0;    // deviations of the noise that still belong to a face at rest
  double moved = 4.5;    // deviations that a face at rest does not have: nothing before counts
  double noise = 0.002;  // units of the face, the deviation of a point until it has been seen

  /// Throws Error naming a value that is not positive, and `moved` if it is not above `still`.
  void validate() const;
};

/// Smooths the landmarks of one face over time. The place of the face, its turn and size, and each
/// point's place within it are averaged apart: a face that is carried along keeps its expression
/// calm, and all points together tell that it moves. Allocates nothing after construction.
class Smoother {
 public:
  explicit Smoother(const Shape& mean, const SmoothingOptions& options = {});

  /// The points at this time, in place. `visible`: how probably each is seen and right (none: all
  /// are); one below a half counts the less, so that what is guessed neither trembles nor jumps. A
  /// time that does not go on starts afresh.
  void apply(Eigen::Ref<Shape> points, double seconds, const Vector<float>& visible = {});
  void reset() { started_ = false; }

 private:
  SmoothingOptions options_;
  // Values are two numbers each, in columns: place, turn with size, and the points in the face.
  Shape mean_, now_, smooth_;
  std::array<Shape, 4> before_;    // the last values, the newest first
  Eigen::ArrayXf noise_, frames_;  // variance, in units; how many frames are in a mean
  double seconds_ = 0;
  int seen_ = 0;
  bool started_ = false;
};

}  // namespace sdm::face
