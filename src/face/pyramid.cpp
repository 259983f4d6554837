#include "face/pyramid.h"

#include <algorithm>
#include <cstddef>

#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/image/resample.h"
#include "sdm/image/warp.h"

namespace sdm::face {
namespace {

// Cells in pixels. Smaller ones only where a picture cannot be shrunk less.
constexpr int kLeastCell = 2, kFirstCell = 4, kLastCell = 7;
// A window this much larger than a face still finds it.
constexpr float kNear = 1.12F;

}  // namespace

void Pyramid::start(image::ByteView grey, const WindowShape& shape, float smallest, float largest,
                    int max_side, bool doubled) {
  if (grey.empty())
    throw Error(formatted("the picture is {} x {}, expected some pixels", grey.width, grey.height));
  shape_ = shape;
  largest_ = largest;
  whole_ = now_ = grey;
  factor_ = 1;
  is_done_ = false;
  turn_ = 0;
  while (std::max(now_.width, now_.height) > max_side && !is_done_) halve();
  const auto window = [&](int cell) { return static_cast<float>(shape_.columns * cell) * factor_; };
  cell_ = kLeastCell;
  if (doubled && factor_ == 1 && window(kFirstCell) > kNear * smallest &&
      std::max(grey.width, grey.height) <= max_side / 2) {
    double_size();
    cell_ = kFirstCell;
  }
  // To the last cell that is not too large for the smallest face; further halves begin at 4.
  while (!is_done_) {
    const int following = cell_ == kLastCell ? kLastCell + 1 : cell_ + 1;
    if (window(following) > kNear * smallest) break;
    cell_ = following;
    if (cell_ > kLastCell) {
      halve();
      cell_ = kFirstCell;
    }
  }
  --cell_;  // next() steps onto it
}

bool Pyramid::fits(image::ByteView picture, int cell) const {
  return picture.width / cell + 2 * kMargin >= shape_.columns &&
         picture.height / cell + 2 * kMargin >= shape_.rows;
}

void Pyramid::double_size() {
  const int width = 2 * now_.width, height = 2 * now_.height;
  const auto size = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  if (doubled_.size() < size) doubled_.resize(size);
  const image::ImageView<std::uint8_t> twice(doubled_.data(), width, height);
  image::AffineMap map;
  map << 0.5, 0, -0.25, 0, 0.5, -0.25;  // the edges stay where they are
  image::warp_affine(now_, map, twice);
  now_ = twice;
  factor_ = 0.5F;
}

void Pyramid::halve() {
  if (factor_ < 1) {
    now_ = whole_;
    factor_ = 1;
    return;
  }
  const int width = now_.width / 2, height = now_.height / 2;
  if (width < 1 || height < 1) {
    is_done_ = true;
    return;
  }
  std::vector<std::uint8_t>& room = halves_[turn_];
  turn_ = 1 - turn_;
  const auto size = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  if (room.size() < size) room.resize(size);
  const image::ImageView<std::uint8_t> half(room.data(), width, height);
  image::shrink(now_, 2, half);
  now_ = half;
  factor_ *= 2;
}

bool Pyramid::next() {
  if (is_done_) return false;
  if (++cell_ > kLastCell) {
    halve();
    cell_ = kFirstCell;
  }
  const auto window = static_cast<float>(shape_.columns * cell_) * factor_;
  if (is_done_ || !fits(now_, cell_) || window > kNear * largest_) {
    is_done_ = true;
    return false;
  }
  image::cell_grid(now_, cell_, kMargin, grid_);
  return true;
}

Similarity Pyramid::place(int x, int y) const {
  const float size = static_cast<float>(cell_) * factor_;  // pixels of a cell
  const auto centre = [&](int at, int cells) {
    return size * (static_cast<float>(at - kMargin) + 0.5F * static_cast<float>(cells)) - 0.5F;
  };
  return {size / shape_.cell, 0, centre(x, shape_.columns), centre(y, shape_.rows)};
}

}  // namespace sdm::face
