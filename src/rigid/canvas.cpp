#include "sdm/rigid/canvas.h"

#include <algorithm>
#include <cmath>

#include "rigid/warp_image.h"

namespace sdm::rigid {

Warp Canvas::to_template() const {
  Warp w;
  w << unit, 0, -unit * (width - 1) / 2, 0, unit, -unit * (height - 1) / 2, 0, 0, 1;
  return w;
}

Canvas make_canvas(const TemplateShape& shape, int side, const image::DenseHogOptions& hog) {
  Canvas canvas;
  canvas.unit = kTemplateSide / side;
  canvas.hog = hog;
  const auto pixels = [&](double length) {
    return std::max(hog.cell, static_cast<int>(std::lround(length / canvas.unit)));
  };
  canvas.width = pixels(shape.width);
  canvas.height = pixels(shape.height);
  return canvas;
}

void sample(image::ByteView frame, const Warp& warp, const Canvas& canvas,
            image::ImageView<float> dst) {
  warp_image(frame, warp * canvas.to_template(), dst);
}

void features(image::ByteView frame, const Warp& warp, const Canvas& canvas,
              std::span<float> pixels, std::span<float> out) {
  const image::ImageView<float> seen(pixels.data(), canvas.width, canvas.height);
  sample(frame, warp, canvas, seen);
  image::dense_hog(seen, canvas.hog, out);
}

}  // namespace sdm::rigid
