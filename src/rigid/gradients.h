#pragma once

#include <algorithm>

#include "sdm/image/image_view.h"

namespace sdm::rigid {

/// Half the difference of the two neighbours; at the border, where one is missing, the difference
/// to the other. 0 along an axis of one pixel.
inline void gradients(image::FloatView src, image::ImageView<float> gx,
                      image::ImageView<float> gy) {
  for (int y = 0; y < src.height; ++y) {
    const int above = std::max(y - 1, 0), below = std::min(y + 1, src.height - 1);
    const float rows = float(std::max(below - above, 1));
    const float *up = src.row(above), *here = src.row(y), *down = src.row(below);
    float *dx = gx.row(y), *dy = gy.row(y);
    for (int x = 0; x < src.width; ++x) dy[x] = (down[x] - up[x]) / rows;
    for (int x = 1; x + 1 < src.width; ++x) dx[x] = (here[x + 1] - here[x - 1]) / 2;
    dx[0] = src.width > 1 ? here[1] - here[0] : 0;
    dx[src.width - 1] = src.width > 1 ? here[src.width - 1] - here[src.width - 2] : 0;
  }
}

}  // namespace sdm::rigid
