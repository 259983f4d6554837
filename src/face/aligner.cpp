#include "sdm/face/aligner.h"

#include <fmt/format.h>

#include <cmath>

#include "face/canvas.h"
#include "face/folding.h"
#include "sdm/error.h"

namespace sdm::face {

struct Aligner::State {
  explicit State(const Model& m) : model(&m), canvas(m.recipe), shape(m.mean), pixels(m.mean) {
    Index features = 0, folded = 0, rank = 0;
    for (std::size_t i = 0; i < m.maps.size(); ++i) {
      foldings.emplace_back(m.points(), m.recipe.stages[i].cells, m.mirror);
      features = std::max(features, foldings.back().features());
      folded = std::max(folded, foldings.back().size());
      rank = std::max(rank, m.maps[i].rank());
    }
    patches.resize(static_cast<std::size_t>(features));
    sums.resize(static_cast<std::size_t>(folded));
    differences.resize(static_cast<std::size_t>(folded));
    narrow.resize(static_cast<std::size_t>(folded));
    small.resize(rank);
    offset.resize(2 * m.points());
    delta.resize(2 * m.points());
    result.points.resize(2, m.points());
  }

  const Alignment& run(image::ByteView grey, Frame frame);
  void step(const CompactMap& map, const Folding& folding);

  const Model* model;
  Canvas canvas;
  std::vector<Folding> foldings;
  Shape shape, pixels;
  std::vector<float> patches, sums, differences;
  std::vector<std::int16_t> narrow;
  Vector<float> small, offset, delta;
  Alignment result;
};

// delta = bias - left (scale * (values^T f) + shape s)
void Aligner::State::step(const CompactMap& map, const Folding& folding) {
  const auto size = static_cast<std::size_t>(folding.size());
  fold(folding, {patches.data(), static_cast<std::size_t>(folding.features())}, {sums.data(), size},
       {differences.data(), size});
  const std::int8_t* values = map.values.as<std::int8_t>().data();
  const float* scale = map.scale.as<float>().data();
  float step = to_i16({sums.data(), size}, {narrow.data(), size});
  multiply_i8(values, scale, map.even, folding.size(), narrow.data(), step, small.data());
  if (map.even < map.rank()) {
    step = to_i16({differences.data(), size}, {narrow.data(), size});
    multiply_i8(values + map.even * folding.size(), scale + map.even, map.rank() - map.even,
                folding.size(), narrow.data(), step, small.data() + map.even);
  }
  auto inner = small.head(map.rank());
  inner.noalias() += map.shape * offset;
  delta = map.bias;
  delta.noalias() -= map.left * inner;
}

const Alignment& Aligner::State::run(image::ByteView grey, Frame frame) {
  if (grey.empty())
    throw Error(
        fmt::format("the picture is {} x {}, expected some pixels", grey.width, grey.height));
  if (!(frame.scale() > 0) || !std::isfinite(frame.scale()) || !std::isfinite(frame.x) ||
      !std::isfinite(frame.y))
    throw Error(fmt::format("the face is {} px large at ({}, {}), expected a finite place and size",
                            frame.scale(), frame.x, frame.y));
  shape = model->mean;
  bool drawn = false;
  for (std::size_t k = 0; k < model->maps.size(); ++k) {
    const int stage = static_cast<int>(k);
    if (k > 0 && model->recipe.stages[k].redraw) {
      frame.to_image(shape, pixels);
      const Frame next = fit_frame(model->mean, pixels);
      // A shape that has collapsed has no frame of its own.
      if (next.scale() > 1e-3F * frame.scale() && std::isfinite(next.scale())) {
        frame = next;
        frame.to_face(pixels, shape);
        drawn = false;
      }
    }
    if (!drawn) canvas.draw(grey, frame);
    drawn = true;
    const Folding& folding = foldings[k];
    canvas.describe(stage, shape, {patches.data(), static_cast<std::size_t>(folding.features())});
    Eigen::Map<Shape>(offset.data(), 2, shape.cols()) =
        model->recipe.shape_weight * (shape - model->mean);
    step(model->maps[k], folding);
    shape += Eigen::Map<const Shape>(delta.data(), 2, shape.cols());
  }
  frame.to_image(shape, result.points);
  const float moved =
      Eigen::Map<const Shape>(delta.data(), 2, shape.cols()).colwise().norm().mean();
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
