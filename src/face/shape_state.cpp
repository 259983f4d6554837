#include "face/shape_state.h"

#include <cmath>

namespace sdm::face {
namespace {

Eigen::Map<Shape> shape_in(VectorRef<float>& state) {
  return {state.data(), 2, (state.size() - 4) / 2};
}

bool is_still(const Frame& frame, const Frame& next, float still) {
  // Points are up to about 0.8 units from the centre.
  return std::hypot(next.x - frame.x, next.y - frame.y) +
             0.8F * std::hypot(next.a - frame.a, next.b - frame.b) <
         still * frame.scale();
}

}  // namespace

Eigen::Map<const Shape> shape_of(ConstVectorRef<float> state) {
  return {state.data(), 2, (state.size() - 4) / 2};
}

Frame frame_of(ConstVectorRef<float> state) {
  const auto f = state.tail<4>();
  return {f[0], f[1], f[2], f[3]};
}

void put_state(const Eigen::Ref<const Shape>& shape, const Frame& frame, VectorRef<float> state) {
  shape_in(state) = shape;
  state.tail<4>() << frame.a, frame.b, frame.x, frame.y;
}

void shape_difference(ConstVectorRef<float> state, const Eigen::Ref<const Shape>& pixels,
                      VectorRef<float> out) {
  Eigen::Map<Shape> delta(out.data(), 2, pixels.cols());
  frame_of(state).to_face(pixels, delta);
  delta -= shape_of(state);
}

void shape_step(const Recipe& recipe, const Shape& mean, int stage, ConstVectorRef<float> state,
                ConstVectorRef<float> delta, VectorRef<float> out, float still) {
  const auto moved = shape_of(state) + Eigen::Map<const Shape>(delta.data(), 2, mean.cols());
  Eigen::Map<Shape> shape = shape_in(out);
  Frame frame = frame_of(state);
  shape = moved;
  const auto next_stage = static_cast<std::size_t>(stage) + 1;
  if (next_stage < recipe.stages.size() && recipe.stages[next_stage].redraw) {
    frame.to_image(shape, shape);
    const Frame next = fit_frame(mean, shape);
    if (next.scale() > 1e-3F * frame.scale() && std::isfinite(next.scale()) &&
        !is_still(frame, next, still)) {
      frame = next;
      frame.to_face(shape, shape);
    } else {
      shape = moved;
    }
  }
  out.tail<4>() << frame.a, frame.b, frame.x, frame.y;
}

}  // namespace sdm::face
