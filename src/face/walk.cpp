#include "face/walk.h"

#include <cmath>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::face {

Walk::Walk(const Model& model)
    : model_(&model),
      canvas_(model.recipe, model.points()),
      shape_(model.mean),
      pixels_(model.mean) {
  Index features = 0, folded = 0, rank = 0;
  for (std::size_t i = 0; i < model.maps.size(); ++i) {
    foldings_.emplace_back(model.points(), model.recipe.stages[i].cells, model.mirror);
    features = std::max(features, foldings_.back().features());
    folded = std::max(folded, foldings_.back().size());
    rank = std::max(rank, model.maps[i].rank());
  }
  patches_.resize(static_cast<std::size_t>(features));
  sums_.resize(static_cast<std::size_t>(folded));
  differences_.resize(static_cast<std::size_t>(folded));
  narrow_.resize(static_cast<std::size_t>(folded));
  small_.resize(rank);
  offset_.resize(2 * model.points());
  delta_.resize(2 * model.points());
}

void Walk::start(image::ByteView grey, const Frame& frame, float still) {
  if (grey.empty())
    throw Error(formatted("the picture is {} x {}, expected some pixels", grey.width, grey.height));
  if (!(frame.scale() > 0) || !std::isfinite(frame.scale()) || !std::isfinite(frame.x) ||
      !std::isfinite(frame.y))
    throw Error(formatted("the face is {} px large at ({}, {}), expected a finite place and size",
                          frame.scale(), frame.x, frame.y));
  grey_ = grey;
  frame_ = frame;
  shape_ = model_->mean;
  still_ = still;
  drawn_ = false;
}

bool Walk::is_still(const Frame& next) const {
  // Points are up to about 0.8 units from the centre.
  return std::hypot(next.x - frame_.x, next.y - frame_.y) +
             0.8F * std::hypot(next.a - frame_.a, next.b - frame_.b) <
         still_ * frame_.scale();
}

void Walk::place(std::size_t stage) {
  if (stage > 0 && model_->recipe.stages[stage].redraw) {
    frame_.to_image(shape_, pixels_);
    const Frame next = fit_frame(model_->mean, pixels_);
    // A shape that has collapsed has no frame of its own.
    if (next.scale() > 1e-3F * frame_.scale() && std::isfinite(next.scale()) && !is_still(next)) {
      frame_ = next;
      frame_.to_face(pixels_, shape_);
      drawn_ = false;
    }
  }
  if (!drawn_) canvas_.draw(grey_, frame_);
  drawn_ = true;
}

Eigen::Ref<const Vector<float>> Walk::see(std::size_t stage) {
  place(stage);
  const CompactMap& map = model_->maps[stage];
  const Folding& folding = foldings_[stage];
  const auto features = static_cast<std::size_t>(folding.features()),
             size = static_cast<std::size_t>(folding.size());
  canvas_.describe(static_cast<int>(stage), shape_, {patches_.data(), features});
  Eigen::Map<Shape>(offset_.data(), 2, shape_.cols()) =
      model_->recipe.shape_weight * (shape_ - model_->mean);

  fold(folding, {patches_.data(), features}, {sums_.data(), size}, {differences_.data(), size});
  const std::int8_t* values = map.values.as<std::int8_t>().data();
  const float* scale = map.scale.as<float>().data();
  float step = to_i16({sums_.data(), size}, {narrow_.data(), size});
  multiply_i8(values, scale, map.even, folding.size(), narrow_.data(), step, small_.data());
  if (map.even < map.rank()) {
    step = to_i16({differences_.data(), size}, {narrow_.data(), size});
    multiply_i8(values + map.even * folding.size(), scale + map.even, map.rank() - map.even,
                folding.size(), narrow_.data(), step, small_.data() + map.even);
  }
  auto inner = small_.head(map.rank());
  inner.noalias() += map.shape * offset_;
  return inner;
}

float Walk::descend() {
  for (std::size_t k = 0; k < model_->maps.size(); ++k) {
    const CompactMap& map = model_->maps[k];
    const auto seen = see(k);
    delta_ = map.bias;
    delta_.noalias() -= map.left * seen;
    move(delta_);
  }
  return Eigen::Map<const Shape>(delta_.data(), 2, shape_.cols()).colwise().norm().mean();
}

Eigen::Ref<const Vector<float>> Walk::patch_sums() {
  const Folding& folding = foldings_.back();
  const auto features = static_cast<std::size_t>(folding.features()),
             size = static_cast<std::size_t>(folding.size());
  canvas_.describe(static_cast<int>(foldings_.size()) - 1, shape_, {patches_.data(), features},
                   true);
  fold(folding, {patches_.data(), features}, {sums_.data(), size}, {differences_.data(), size});
  return Eigen::Map<const Vector<float>>(sums_.data(), folding.size());
}

void Walk::move(const Vector<float>& delta) {
  shape_ += Eigen::Map<const Shape>(delta.data(), 2, shape_.cols());
}

}  // namespace sdm::face
