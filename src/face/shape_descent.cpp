#include "face/shape_descent.h"

#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm::face {

Cascade<float> small_maps(const Model& model) {
  Cascade<float> cascade;
  cascade.state_size = shape_state_size(model.points());
  cascade.template_known = false;
  for (const CompactMap& map : model.maps) cascade.maps.emplace_back(map.left, map.bias);
  return cascade;
}

ShapeDescent::ShapeDescent(const Model& model)
    : model_(&model),
      maps_(small_maps(model)),
      solver_(maps_),
      features_(model),
      state_(shape_state_size(model.points())),
      last_delta_(2 * model.points()) {}

void ShapeDescent::start(image::ByteView grey, const Similarity& similarity) {
  features_.start(grey);
  if (!(similarity.scale() > 0) || !std::isfinite(similarity.scale()) ||
      !std::isfinite(similarity.x) || !std::isfinite(similarity.y))
    throw Error(formatted("the face is {} px large at ({}, {}), expected a finite place and size",
                          similarity.scale(), similarity.x, similarity.y));
  put_state(model_->mean, similarity, state_);
}

float ShapeDescent::last_step(bool finite) const {
  if (!finite) return std::numeric_limits<float>::infinity();
  return Eigen::Map<const Shape>(last_delta_.data(), 2, model_->points()).colwise().norm().mean();
}

}  // namespace sdm::face
