#pragma once

#include <cstdint>
#include <vector>

#include "face/canvas.h"
#include "face/folding.h"
#include "sdm/face/model.h"

namespace sdm::face {

/// What the stages of a model see, in the small space of their maps: the descent's features are
/// z = scale * (values^T f) + shape s (model.h), so that `delta = bias - left z` is a descent map
/// like any other. The products with the 8-bit values, nearly all of the work, are done here.
/// Allocates nothing after construction. The model must outlive it.
class StageFeatures {
 public:
  explicit StageFeatures(const Model& model);

  /// The picture must stay until the last stage.
  void start(image::ByteView grey);
  /// With another face of it.
  void restart() { is_drawn_ = false; }

  /// Fills `out`, of the map's rank. The face is drawn when its similarity is another than before.
  void operator()(int stage, ConstVectorRef<float> state, VectorRef<float> out);

  /// What the confidence looks at: the patches of the last whole stage at this state, on whole
  /// pixels, sums of both sides where there is a mirror. Overwritten by the next call.
  Eigen::Ref<const Vector<float>> patch_sums(ConstVectorRef<float> state);
  Index patch_sums_size() const;
  /// After patch_sums: those patches themselves.
  Eigen::Ref<const Vector<float>> patches() const {
    return Eigen::Map<const Vector<float>>(patches_.data(), patches_size());
  }
  Index patches_size() const;

 private:
  /// Anew, for this stage and those that follow on the same canvas.
  void draw(const Similarity& similarity, int stage);

  const Model* model_;
  Canvas canvas_;
  std::vector<Folding> foldings_;  // of the stages
  std::vector<float> steps_;
  Similarity drawn_;
  bool is_drawn_ = false;
  std::vector<float> patches_, sums_, differences_;
  std::vector<std::int16_t> narrow_patches_, narrow_sums_, narrow_differences_;
  Vector<float> offset_;
};

}  // namespace sdm::face
