#include "face/shape_descent.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "face/products.h"
#include "sdm/base/error.h"

namespace sdm::face {
namespace {

Index largest_rank(const Model& model) {
  Index largest = 0;
  for (const CompactMap& map : model.maps) largest = std::max(largest, map.rank());
  return largest;
}

}  // namespace

Cascade<float> small_maps(const Model& model) {
  Cascade<float> cascade;
  cascade.state_size = shape_state_size(model.points());
  cascade.template_known = false;
  const Index deltas = 2 * model.points();
  for (std::size_t i = 0; i < model.maps.size(); ++i) {
    const CompactMap& map = model.maps[i];
    const std::vector<int>& part = model.recipe.stages[i].points;
    if (part.empty()) {
      cascade.maps.emplace_back(map.left, map.bias);
      continue;
    }
    Matrix<float> left = Matrix<float>::Zero(deltas, map.rank());
    Vector<float> bias = Vector<float>::Zero(deltas);
    for (std::size_t p = 0; p < part.size(); ++p) {
      const Index from = 2 * static_cast<Index>(p), to = 2 * Index(part[p]);
      left.middleRows<2>(to) = map.left.middleRows<2>(from);
      bias.segment<2>(to) = map.bias.segment<2>(from);
    }
    cascade.maps.emplace_back(std::move(left), std::move(bias));
  }
  return cascade;
}

void ShapeMap::apply(ConstVectorRef<float> z, VectorRef<float> scratch,
                     VectorRef<float> delta) const {
  const Index moved = map_->bias.size();
  scratch.head(z.size()) = -z;
  delta.head(moved) = map_->bias;
  add_product(map_->left, scratch.data(), delta.data());
  if (part_->empty()) return;
  // Numbers of points ascend, so the last one finds its place free.
  Index rest = delta.size();
  for (Index p = moved / 2 - 1; p >= 0; --p) {
    const Index to = 2 * Index((*part_)[static_cast<std::size_t>(p)]);
    const Eigen::Vector2f step = delta.segment<2>(2 * p);
    delta.segment(to, rest - to).setZero();
    delta.segment<2>(to) = step;
    rest = to;
  }
  delta.head(rest).setZero();
}

ShapeDescent::ShapeDescent(const Model& model)
    : model_(&model),
      base_(model.base ? std::make_unique<ShapeDescent>(*model.base) : nullptr),
      buffers_(largest_rank(model), largest_rank(model), 2 * model.points(),
               shape_state_size(model.points())),
      features_(model),
      state_(shape_state_size(model.points())),
      base_shape_(2, model.base ? model.base->points() : 0) {
  for (std::size_t i = 0; i < model.maps.size(); ++i)
    maps_.emplace_back(model.maps[i], model.recipe.stages[i].points);
}

void ShapeDescent::show(image::ByteView grey) {
  features_.start(grey);
  if (base_) base_->show(grey);
}

float ShapeDescent::start(const Similarity& similarity, float still) {
  features_.restart();
  if (base_) {
    const float step = base_->descend(similarity, still, NoHook(), [](int) { return true; });
    const Similarity place = base_->place(base_shape_);
    base_shape_ -= model_->base->mean;
    put_state(model_->mean, place, state_);
    state_.head(2 * model_->points()).noalias() +=
        model_->from_base * Eigen::Map<const Vector<float>>(base_shape_.data(), base_shape_.size());
    return step;
  }
  if (!(similarity.scale() > 0) || !std::isfinite(similarity.scale()) ||
      !std::isfinite(similarity.x) || !std::isfinite(similarity.y))
    throw Error(formatted("the face is {} px large at ({}, {}), expected a finite place and size",
                          similarity.scale(), similarity.x, similarity.y));
  put_state(model_->mean, similarity, state_);
  return 0;
}

Similarity ShapeDescent::place(Shape& shape) const {
  to_image(shape);
  const Similarity fitted = fit_similarity(model_->mean, shape);
  // A shape that has collapsed has no place of its own.
  const Similarity place = fitted.scale() > 1e-3F * similarity().scale() ? fitted : similarity();
  place.to_face(shape, shape);
  return place;
}

float ShapeDescent::last_step(bool finite) const {
  if (!finite) return std::numeric_limits<float>::infinity();
  return Eigen::Map<const Shape>(buffers_.delta.data(), 2, model_->points())
      .colwise()
      .norm()
      .mean();
}

}  // namespace sdm::face
