#pragma once

#include <span>

#include "sdm/face/recipe.h"
#include "sdm/face/similarity.h"
#include "sdm/image/gradient_channels.h"
#include "sdm/image/resample.h"

namespace sdm::face {

/// A face drawn upright and in one size, and the patches on it. One object a thread; it allocates
/// nothing after construction.
class Canvas {
 public:
  /// For shapes of so many points. The recipe must outlive it.
  Canvas(const Recipe& recipe, Eigen::Index points);

  void draw(image::ByteView grey, const Similarity& similarity);
  /// The patches of a stage at those of all points (face coordinates) that it sees, one after the
  /// other. `coarse`: on
  /// whole pixels, whatever the recipe says, in less than half the time.
  void describe(int stage, const Eigen::Ref<const Shape>& face, std::span<float> out,
                bool coarse = false);

 private:
  const Recipe* recipe_;
  image::Image<float> pixels_;
  image::Resampler resample_;
  image::GradientChannels channels_;
  Shape points_;
};

}  // namespace sdm::face
