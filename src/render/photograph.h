#pragma once

#include <cstdint>
#include <vector>

#include "render/field.h"

namespace sdm::render {

/// What is behind a head, as brightness 0 to 1: a piece of one of the pictures, or made up of
/// shapes, slopes and grain; often out of focus.
Field make_background(int width, int height,
                      const std::vector<image::Image<std::uint8_t>>& pictures, const Noise& noise,
                      Random& random);

/// What a camera makes of light: focus, motion, grain, and compression by 8 x 8 cosines as JPEG
/// does. `picture` is brightness, 0 to 1.
image::Image<std::uint8_t> photograph(Field picture, bool flaws, const Noise& noise,
                                      Random& random);

/// Rounds the cosines of each 8 x 8 block as JPEG does with this quality, 1 to 100.
void compress(Field& picture, int quality);

}  // namespace sdm::render
