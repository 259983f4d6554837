#include "sdm/face/aligner.h"

#include <cmath>

#include "base/formatted.h"
#include "face/shape_descent.h"
#include "sdm/base/error.h"

namespace sdm::face {

struct Aligner::State {
  explicit State(const Model& m) : model(&m), descent(m) { result.points.resize(2, m.points()); }

  const Alignment& run(image::ByteView grey, const Similarity& start, float still = 0);

  const Model* model;
  ShapeDescent descent;
  Alignment result;
};

const Alignment& Aligner::State::run(image::ByteView grey, const Similarity& start, float still) {
  const float moved = descent.run(grey, start, still);
  descent.to_image(result.points);
  const Model& scored = model->base ? *model->base : *model;
  if (!result.points.allFinite()) {
    result.score = 0;
  } else if (std::isfinite(moved) && scored.confidence.known()) {
    result.score = scored.confidence.probability(descent.patch_sums());
  } else {
    const float ratio = moved / scored.typical_step;
    result.score = 1 / (1 + ratio * ratio);
  }
  return result;
}

Aligner::Aligner(const Model& model) {
  model.validate();
  state_ = std::make_unique<State>(model);
}
Aligner::~Aligner() = default;
Aligner::Aligner(Aligner&&) noexcept = default;
Aligner& Aligner::operator=(Aligner&&) noexcept = default;

const Alignment& Aligner::align(image::ByteView grey, const Box& box) {
  return align(grey, box, state_->model->boxes.front());
}

const Alignment& Aligner::align(image::ByteView grey, const Box& box,
                                const BoxConvention& convention) {
  if (!(box.width > 0) || !(box.height > 0))
    throw Error(formatted("the box is {} x {} px, expected a size above 0", box.width, box.height));
  return state_->run(grey, convention.similarity(box));
}

const Alignment& Aligner::align_from(image::ByteView grey, const Similarity& start) {
  return state_->run(grey, start);
}

const Alignment& Aligner::follow(image::ByteView grey, const Similarity& start) {
  // Beyond, the error begins to grow (docs/face-tracking.md).
  constexpr float kStill = 0.05F;
  return state_->run(grey, start, kStill);
}

}  // namespace sdm::face
