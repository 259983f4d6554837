#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sdm/image/image_view.h"
#include "sdm/rigid/region.h"

namespace sdm::rigid {

/// dst = src under the binomial filter 1 4 6 4 1 in both directions, replicated borders: about a
/// Gaussian of one pixel. Takes three quarters off the deviation of pixel noise.
/// Needs: equal sizes of at least 1 x 1, no overlap, `rows` of at least the width + 4 values.
void smooth(image::ByteView src, image::ImageView<std::uint8_t> dst, std::span<std::uint16_t> rows);

/// The part of a frame around the template as the stages see it: shrunk by a power of two where the
/// template shows at twice its size (100 px) or more, so that sampling does not alias, and smoothed
/// where that is asked for. Made once a descent for all stages; allocates at construction only.
class FrameWindow {
 public:
  /// The window reaches `margin` times the longer side of the template's bounding box beyond it.
  explicit FrameWindow(bool smoothed, double margin = 0.35);

  /// Needs: `frame` outlives the use of `view`. The warp tells where the template is about to be;
  /// where that is outside the frame or not finite, the view is the frame as it is.
  void look(image::ByteView frame, const TemplateShape& shape, const Warp& warp);

  image::ByteView view() const { return view_; }
  /// The same warp, leading to pixels of the view.
  Warp in_view(const Warp& warp) const { return compose(from_frame_, warp); }

 private:
  bool smoothed_;
  double margin_;
  image::ByteView view_;
  Warp from_frame_ = Warp::Identity();
  std::vector<std::uint8_t> shrunk_, smooth_;
  std::vector<std::uint16_t> row_;
};

}  // namespace sdm::rigid
