#pragma once

#include <cstdint>
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

  /// Takes a picture, which must stay until the last description: only what patches touch is drawn.
  void start(image::ByteView grey);
  /// The patches of this stage are the largest that are expected on it.
  void draw(const Similarity& similarity, int stage);
  /// The patches of a stage at those of all points (face coordinates) that it sees, one after the
  /// other. `coarse`: on whole pixels, whatever the recipe says, in less than half the time.
  void describe(int stage, const Eigen::Ref<const Shape>& face, std::span<float> out,
                bool coarse = false);
  /// In whole steps.
  void describe(int stage, const Eigen::Ref<const Shape>& face, float step,
                std::span<std::int16_t> out);

 private:
  struct Window {
    int left = 0, top = 0, right = 0, bottom = 0;  // pixels of the canvas, the last two excluded
  };
  /// What patches of this half width at the first points touch, and so many pixels more.
  Window touched(Eigen::Index count, float half, float more) const;
  void draw(const Window& window);
  float half_width(const image::HogOptions& options) const;
  /// Calls hog(points, options, out) for points whose patches have one size.
  template <class T, class Hog>
  void describe(int stage, const Eigen::Ref<const Shape>& face, image::HogOptions options,
                std::span<T> out, Hog hog);

  const Recipe* recipe_;
  image::ByteView grey_;
  bool is_new_ = true;  // nothing of the picture has been drawn
  image::AffineMap map_;
  float half_ = 0;  // the width of the expected patches
  Window drawn_;
  image::Image<std::int16_t> pixels_;
  image::Resampler resample_;
  image::GradientChannels channels_;
  Shape points_;
};

}  // namespace sdm::face
