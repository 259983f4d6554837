#pragma once

#include <memory>
#include <vector>

#include "face/shape_state.h"
#include "face/stage_features.h"
#include "sdm/descent/solve.h"

namespace sdm::face {

/// The maps of a model as the descent runs them: from what StageFeatures gives to deltas.
Cascade<float> small_maps(const Model& model);

/// One of them, applied to the points that its stage moves alone.
class ShapeMap {
 public:
  ShapeMap(const CompactMap& map, const std::vector<int>& part) : map_(&map), part_(&part) {}

  Index feature_size() const { return map_->rank(); }
  /// See DescentMap.
  void apply(ConstVectorRef<float> z, VectorRef<float> scratch, VectorRef<float> delta) const;

 private:
  const CompactMap* map_;
  const std::vector<int>* part_;  // of the points; empty: all
};

/// Brings the mean shape onto a face by the stages of a model's base, if it has one, and its own.
/// Allocates nothing after construction. The model must outlive it.
class ShapeDescent {
 public:
  explicit ShapeDescent(const Model& model);

  /// From the mean shape placed by a similarity. `still`: see shape_step. `hook(stage, state, z)`
  /// is told of each stage but the base's before it moves the shape. Gives the mean distance of the
  /// last step (the base's, whose score is the model's), in units, infinite where it did not stay
  /// finite. Throws Error on an empty picture and on a similarity that is not finite or has no
  /// size.
  template <class Hook = NoHook>
  float run(image::ByteView grey, const Similarity& similarity, float still = 0, Hook&& hook = {}) {
    show(grey);
    return descend(similarity, still, hook, [](int) { return true; });
  }

  /// The same on the picture of the last run, with what was drawn of it still at hand.
  /// `goes_on(stage)` is asked before each stage and once after the last; false ends the descent
  /// there, and the step is infinite.
  template <class GoesOn>
  float run_again(const Similarity& similarity, GoesOn&& goes_on) {
    return descend(similarity, 0, NoHook(), goes_on);
  }

  auto shape() const { return shape_of(state_); }  // in face coordinates
  Similarity similarity() const { return similarity_of(state_); }
  /// The points in pixels.
  void to_image(Eigen::Ref<Shape> points) const { similarity().to_image(shape(), points); }
  /// Where the shape lies: the similarity that the mean shape fits best, which `similarity` is
  /// about, and the shape in it.
  Similarity place(Shape& shape) const;
  /// Pushes the shape off its place.
  void move(const Vector<float>& delta) { state_.head(delta.size()) += delta; }
  /// See StageFeatures, for the shape as it is now.
  Eigen::Ref<const Vector<float>> patch_sums() {
    return base_ ? base_->patch_sums() : features_.patch_sums(state_);
  }
  Index patch_sums_size() const {
    return base_ ? base_->patch_sums_size() : features_.patch_sums_size();
  }
  /// The patches behind the last patch_sums; not for a model on a base.
  Eigen::Ref<const Vector<float>> patches() const { return features_.patches(); }
  Index patches_size() const { return features_.patches_size(); }

 private:
  template <class Hook, class GoesOn>
  float descend(const Similarity& similarity, float still, Hook&& hook, GoesOn&& goes_on) {
    const float base_step = start(similarity, still);
    const auto step = [&](int stage, const auto& state, const auto& delta, auto&& out) {
      shape_step(model_->recipe, model_->mean, stage, state, delta, out, still);
    };
    bool whole = goes_on(0);
    for (int stage = 0; stage < static_cast<int>(maps_.size()) && whole; ++stage)
      whole = stage_update<float>(maps_[static_cast<std::size_t>(stage)], stage, state_, buffers_,
                                  features_, step, hook) &&
              goes_on(stage + 1);
    return (base_ && whole) || maps_.empty() ? base_step : last_step(whole);
  }

  void show(image::ByteView grey);
  float start(const Similarity& similarity, float still);
  float last_step(bool finite) const;

  const Model* model_;
  std::unique_ptr<ShapeDescent> base_;
  std::vector<ShapeMap> maps_;  // none: the base's answer is not moved
  StageBuffers<float> buffers_;
  StageFeatures features_;
  Vector<float> state_;
  Shape base_shape_;
};

}  // namespace sdm::face
