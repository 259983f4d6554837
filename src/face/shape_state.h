#pragma once

#include <vector>

#include "sdm/face/recipe.h"
#include "sdm/face/similarity.h"

namespace sdm::face {

// A face as a state of the descent: its points in face coordinates, then its similarity (a, b, x,
// y). Deltas are in face coordinates too, so faces of every size and turn move alike. Nothing here
// allocates.

inline Index shape_state_size(Index points) { return 2 * points + 4; }

Eigen::Map<const Shape> shape_of(ConstVectorRef<float> state);
Similarity similarity_of(ConstVectorRef<float> state);
void put_state(const Eigen::Ref<const Shape>& shape, const Similarity& similarity,
               VectorRef<float> state);

/// What would bring the state to these points, in pixels; NaN where they are not known.
void shape_difference(ConstVectorRef<float> state, const Eigen::Ref<const Shape>& pixels,
                      VectorRef<float> out);

/// The values of a delta that a stage of a part moves; empty: all.
std::vector<Index> moved_values(const Recipe& recipe, int stage);

/// Moves the shape. Before a stage that asks for a new drawing the similarity is fitted to the
/// shape as it is then, unless the face has moved on its canvas by less than `still` units or the
/// shape has collapsed.
void shape_step(const Recipe& recipe, const Shape& mean, int stage, ConstVectorRef<float> state,
                ConstVectorRef<float> delta, VectorRef<float> out, float still = 0);

}  // namespace sdm::face
