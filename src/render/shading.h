#pragma once

#include "render/scene.h"

namespace sdm::render {

/// What is interpolated over a triangle, of each vertex: the point, the normal, the place on the
/// texture, the share of the sky; and room to a multiple of four.
using Corners = Eigen::Array<float, 12, Eigen::Dynamic>;

/// How bright each fragment of `raster` is; elsewhere `bright` stays as it is. No shadows: null.
void shade(const Scene& scene, const Corners& corners, const Light& light, const ShadowMap* shadows,
           const Raster& raster, float distance, Field& bright);

}  // namespace sdm::render
