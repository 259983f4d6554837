#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

/// dst = src under the binomial filter 1 4 6 4 1 in both directions, replicated borders: about a
/// Gaussian of one pixel. Takes three quarters off the deviation of pixel noise.
/// Needs: equal sizes of at least 1 x 1, no overlap, `rows` of at least the width + 4 values.
void smooth(image::ByteView src, image::ImageView<std::uint8_t> dst, std::span<std::uint16_t> rows);

/// The part of a frame around the template as the stages see it: shrunk by a power of two where the
/// template shows at twice its size (100 px) or more, so that sampling does not alias, and smoothed
/// where that is asked for. Made once a frame for all stages; allocates at construction only.
class FrameWindow {
 public:
  explicit FrameWindow(bool smoothed);

  /// Needs: `frame` outlives the use of `view`. The warp tells where the template is about to be.
  void look(image::ByteView frame, const TemplateShape& shape, const Warp& warp);

  image::ByteView view() const { return view_; }
  /// The same warp, leading to pixels of the view.
  Warp in_view(const Warp& warp) const { return compose(from_frame_, warp); }

 private:
  bool smoothed_;
  image::ByteView view_;
  Warp from_frame_ = Warp::Identity();
  std::vector<std::uint8_t> shrunk_, smooth_;
  std::vector<std::uint16_t> row_;
};

}  // namespace sdm::rigid
