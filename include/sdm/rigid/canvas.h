#pragma once

#include <span>

#include "sdm/image/hog.h"
#include "sdm/image/image_view.h"
#include "sdm/rigid/region.h"

namespace sdm::rigid {

/// The raster on which the template is seen, and the HoG taken of it.
struct Canvas {
  int width = 100;
  int height = 100;
  double unit = 1;  ///< template units per canvas pixel
  image::DenseHogOptions hog;

  /// Takes canvas pixels to template coordinates.
  Warp to_template() const;
  int feature_size() const { return hog.size(width, height); }
};

/// A canvas with `side` pixels along the template's longer side.
Canvas make_canvas(const TemplateShape& shape, int side, const image::DenseHogOptions& hog);

/// dst = what the frame shows at warp o (canvas pixel), bilinear. Allocates nothing.
void sample(image::ByteView frame, const Warp& warp, const Canvas& canvas,
            image::ImageView<float> dst);

/// HoG of the same; `pixels` holds at least the canvas's pixels.
void features(image::ByteView frame, const Warp& warp, const Canvas& canvas,
              std::span<float> pixels, std::span<float> out);

}  // namespace sdm::rigid
