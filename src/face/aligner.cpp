#include "sdm/face/aligner.h"

#include <fmt/format.h>

#include "face/walk.h"
#include "sdm/error.h"

namespace sdm::face {

struct Aligner::State {
  explicit State(const Model& m) : model(&m), walk(m), delta(2 * m.points()) {
    result.points.resize(2, m.points());
  }

  const Alignment& run(image::ByteView grey, const Frame& frame);

  const Model* model;
  Walk walk;
  Vector<float> delta;
  Alignment result;
};

const Alignment& Aligner::State::run(image::ByteView grey, const Frame& frame) {
  walk.start(grey, frame);
  for (std::size_t k = 0; k < model->maps.size(); ++k) {
    const CompactMap& map = model->maps[k];
    const auto seen = walk.see(k);
    delta = map.bias;
    delta.noalias() -= map.left * seen;
    walk.move(delta);
  }
  walk.frame().to_image(walk.shape(), result.points);
  const float moved =
      Eigen::Map<const Shape>(delta.data(), 2, model->points()).colwise().norm().mean();
  const float ratio = moved / model->typical_step;
  result.score = 1 / (1 + ratio * ratio);
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
    throw Error(
        fmt::format("the box is {} x {} px, expected a size above 0", box.width, box.height));
  return state_->run(grey, convention.frame(box));
}

const Alignment& Aligner::align(image::ByteView grey, const Frame& frame) {
  return state_->run(grey, frame);
}

}  // namespace sdm::face
