#pragma once

#include "sdm/base/random.h"
#include "sdm/face/shape.h"
#include "sdm/image/image_view.h"

namespace sdm::face {

/// Something before a face: an ellipse or a turned box, in pixels of the picture.
struct Occluder {
  bool round = true;
  float x = 0, y = 0;  // its centre
  float half_width = 1, half_height = 1;
  float cosine = 1, sine = 0;  // of its turn

  bool covers(float px, float py) const;
};

/// Draws an occluder over a part of a face with these points: between a tenth and a half of the
/// face's extent each way, from a hand to a microphone, placed anywhere on it.
Occluder draw_occluder(const Shape& points, Random& random);

/// Paints it into the picture, with a piece of another picture, or with one grey level, a slope and
/// grain.
void paint(const Occluder& occluder, image::ByteView other, Random& random,
           image::ImageView<std::uint8_t> picture);

}  // namespace sdm::face
