#include "sdm/rigid/frame_window.h"

#include <algorithm>
#include <cmath>

#include "sdm/image/resample.h"

namespace sdm::rigid {
namespace {

constexpr int kLargest = 512;  // room for a template of 200 px, turned by 45 degrees

}  // namespace

void smooth(image::ByteView src, image::ImageView<std::uint8_t> dst,
            std::span<std::uint16_t> rows) {
  for (int y = 0; y < src.height; ++y) {
    const auto near = [&](int dy) { return src.row(std::clamp(y + dy, 0, src.height - 1)); };
    const std::uint8_t *a = near(-2), *b = near(-1), *c = near(0), *d = near(1), *e = near(2);
    std::uint16_t* sums = rows.data() + 2;
    for (int x = 0; x < src.width; ++x)
      sums[x] = static_cast<std::uint16_t>(a[x] + e[x] + 4 * (b[x] + d[x]) + 6 * c[x]);
    sums[-2] = sums[-1] = sums[0];
    sums[src.width] = sums[src.width + 1] = sums[src.width - 1];
    std::uint8_t* out = dst.row(y);
    for (int x = 0; x < src.width; ++x) {
      // At most 16 * 16 * 255 + 128: just inside 16 bits.
      const auto sum = static_cast<std::uint16_t>(
          sums[x - 2] + sums[x + 2] + 4 * (sums[x - 1] + sums[x + 1]) + 6 * sums[x] + 128);
      out[x] = static_cast<std::uint8_t>(sum >> 8);
    }
  }
}

FrameWindow::FrameWindow(bool smoothed, double margin)
    : smoothed_(smoothed),
      margin_(margin),
      shrunk_(std::size_t(kLargest) * kLargest),
      smooth_(smoothed ? shrunk_.size() : 0),
      row_(kLargest + 4) {}

void FrameWindow::look(image::ByteView frame, const TemplateShape& shape, const Warp& warp) {
  view_ = frame;
  from_frame_ = Warp::Identity();
  const double scale = scale_of(warp);
  const int factor = scale >= 2 ? 1 << std::min(8, static_cast<int>(std::log2(scale))) : 1;

  const Quad corners = shape.corners(warp);
  if (!corners.allFinite()) return;
  const double surround =
      2 * margin_ * (corners.rowwise().maxCoeff() - corners.rowwise().minCoeff()).maxCoeff();
  const auto window = [&](int axis, int size, int& first, int& count) {
    const double low = corners.row(axis).minCoeff(), high = corners.row(axis).maxCoeff();
    const double side = std::min(high - low + surround, double(kLargest) * factor);
    const double start = (low + high - side) / 2;
    first = static_cast<int>(std::clamp(start, 0.0, double(size)));
    const int last = static_cast<int>(std::clamp(std::ceil(start + side), 0.0, double(size)));
    count = std::min((last - first) / factor, kLargest);
  };
  int x, y, width, height;
  window(0, frame.width, x, width);
  window(1, frame.height, y, height);
  if (width <= 0 || height <= 0) return;  // outside the frame: nothing to see at any resolution

  view_ = frame.crop(x, y, width * factor, height * factor);
  if (factor > 1) {
    const image::ImageView<std::uint8_t> shrunk(shrunk_.data(), width, height);
    image::shrink(view_, factor, shrunk);
    view_ = shrunk;
  }
  if (smoothed_) {
    const image::ImageView<std::uint8_t> result(smooth_.data(), width, height);
    smooth(view_, result, row_);
    view_ = result;
  }
  const double shrink = 1.0 / factor;
  from_frame_ << shrink, 0, (0.5 - x) * shrink - 0.5, 0, shrink, (0.5 - y) * shrink - 0.5, 0, 0, 1;
}

}  // namespace sdm::rigid
