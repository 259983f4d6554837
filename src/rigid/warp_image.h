#pragma once

#include "sdm/image/warp.h"
#include "sdm/rigid/motion.h"

namespace sdm::rigid {

/// dst(u, v) = what src shows at the map of (u, v), bilinear; by the faster affine kernel where the
/// map is affine.
template <class T>
void warp_image(image::ImageView<const T> src, const Warp& map, image::ImageView<float> dst) {
  if (map(2, 0) == 0 && map(2, 1) == 0) {
    image::warp_affine(src, image::AffineMap((map / map(2, 2)).topRows<2>()), dst);
  } else {
    image::warp_projective(src, map, dst);
  }
}

}  // namespace sdm::rigid
