#include "face/shape_state.h"

#include <cmath>

namespace sdm::face {
namespace {

Eigen::Map<Shape> shape_in(VectorRef<float>& state) {
  return {state.data(), 2, (state.size() - 4) / 2};
}

bool is_still(const Similarity& similarity, const Similarity& next, float still) {
  // Points are up to about 0.8 units from the centre.
  return std::hypot(next.x - similarity.x, next.y - similarity.y) +
             0.8F * std::hypot(next.a - similarity.a, next.b - similarity.b) <
         still * similarity.scale();
}

}  // namespace

Eigen::Map<const Shape> shape_of(ConstVectorRef<float> state) {
  return {state.data(), 2, (state.size() - 4) / 2};
}

Similarity similarity_of(ConstVectorRef<float> state) {
  const auto f = state.tail<4>();
  return {f[0], f[1], f[2], f[3]};
}

void put_state(const Eigen::Ref<const Shape>& shape, const Similarity& similarity,
               VectorRef<float> state) {
  shape_in(state) = shape;
  state.tail<4>() << similarity.a, similarity.b, similarity.x, similarity.y;
}

void shape_difference(ConstVectorRef<float> state, const Eigen::Ref<const Shape>& pixels,
                      VectorRef<float> out) {
  Eigen::Map<Shape> delta(out.data(), 2, pixels.cols());
  similarity_of(state).to_face(pixels, delta);
  delta -= shape_of(state);
}

std::vector<Index> moved_values(const Recipe& recipe, int stage) {
  std::vector<Index> values;
  for (const int point : recipe.stages[static_cast<std::size_t>(stage)].points) {
    values.push_back(2 * Index(point));
    values.push_back(2 * Index(point) + 1);
  }
  return values;
}

void shape_step(const Recipe& recipe, const Shape& mean, int stage, ConstVectorRef<float> state,
                ConstVectorRef<float> delta, VectorRef<float> out, float still) {
  const auto moved = shape_of(state) + Eigen::Map<const Shape>(delta.data(), 2, mean.cols());
  Eigen::Map<Shape> shape = shape_in(out);
  Similarity similarity = similarity_of(state);
  shape = moved;
  const auto next_stage = static_cast<std::size_t>(stage) + 1;
  if (next_stage < recipe.stages.size() && recipe.stages[next_stage].redraw) {
    similarity.to_image(shape, shape);
    const Similarity next = fit_similarity(mean, shape);
    if (next.scale() > 1e-3F * similarity.scale() && std::isfinite(next.scale()) &&
        !is_still(similarity, next, still)) {
      similarity = next;
      similarity.to_face(shape, shape);
    } else {
      shape = moved;
    }
  }
  out.tail<4>() << similarity.a, similarity.b, similarity.x, similarity.y;
}

}  // namespace sdm::face
