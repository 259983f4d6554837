#pragma once

#include <vector>

#include "sdm/face/shape.h"

namespace sdm::face {

/// Tells of each point whether it is seen and right, by the patches of the point and of those next
/// to it (the last whole stage's, on whole pixels, at the final points): the probability is
/// 1 / (1 + exp(-(w_p^T f_p + b_p))).
struct Visibility {
  Matrix<float> weights;  // of the patches of point p and its nearest: column p; empty: not learned
  Vector<float> bias;

  /// Patches that are looked at for a point, its own among them.
  static constexpr Index kNear = 5;

  bool known() const { return weights.size() > 0; }
  /// Needs: all patches of a face, one after the other, and nearest_points of its mean shape.
  /// Allocates nothing.
  void probabilities(ConstVectorRef<float> patches, const std::vector<int>& nearest,
                     VectorRef<float> out) const;
};

/// For each point the kNear nearest of the mean shape, itself first (fewer points: as many as there
/// are). Partners in the mirror have partners.
std::vector<int> nearest_points(const Shape& mean, const std::vector<int>& mirror);

}  // namespace sdm::face
