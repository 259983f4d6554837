#include "sdm/rigid/canvas.h"

#include <algorithm>
#include <cmath>

#include "sdm/image/resample.h"
#include "sdm/image/warp.h"

namespace sdm::rigid {
namespace {

// A template of less than 200 px, turned by 45 degrees, with as much again around it.
constexpr int kLargestWindow = 640;

}  // namespace

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
  const Warp map = warp * canvas.to_template();
  if (map(2, 0) == 0 && map(2, 1) == 0) {
    image::warp_affine(frame, image::AffineMap((map / map(2, 2)).topRows<2>()), dst);
  } else {
    image::warp_projective(frame, map, dst);
  }
}

void features(image::ByteView frame, const Warp& warp, const Canvas& canvas,
              std::span<float> pixels, std::span<float> out) {
  const image::ImageView<float> seen(pixels.data(), canvas.width, canvas.height);
  sample(frame, warp, canvas, seen);
  image::dense_hog(seen, canvas.hog, out);
}

FrameWindow::FrameWindow() : shrunk_(std::size_t(kLargestWindow) * kLargestWindow) {}

void FrameWindow::look(image::ByteView frame, const TemplateShape& shape, const Warp& warp) {
  view_ = frame;
  from_frame_ = Warp::Identity();
  const double scale = scale_of(warp);
  if (!(scale >= 2)) return;
  const int factor = std::min(256, 1 << static_cast<int>(std::log2(scale)));

  const Quad corners = shape.corners(warp);
  const auto window = [&](int axis, int size, int& first, int& count) {
    const double low = corners.row(axis).minCoeff(), high = corners.row(axis).maxCoeff();
    const double side = std::min(2 * (high - low), double(kLargestWindow) * factor);
    const double start = (low + high - side) / 2;
    first = static_cast<int>(std::clamp(start, 0.0, double(size)));
    const int last = static_cast<int>(std::clamp(start + side, 0.0, double(size)));
    count = std::min((last - first) / factor, kLargestWindow);
  };
  int x, y, width, height;
  window(0, frame.width, x, width);
  window(1, frame.height, y, height);
  if (width <= 0 || height <= 0) return;  // outside the frame: nothing to see at any resolution

  const image::ImageView<std::uint8_t> shrunk(shrunk_.data(), width, height);
  image::shrink(frame.crop(x, y, width * factor, height * factor), factor, shrunk);
  view_ = shrunk;
  const double inverse_factor = 1.0 / factor;
  from_frame_ << inverse_factor, 0, (0.5 - x) * inverse_factor - 0.5, 0, inverse_factor,
      (0.5 - y) * inverse_factor - 0.5, 0, 0, 1;
}

}  // namespace sdm::rigid
