#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace sdm::image {

/// A window on somebody else's pixels: one channel, rows `stride` elements (not bytes) apart.
/// `ImageView<const T>` reads, `ImageView<T>` also writes. Pixel centres have whole coordinates, so
/// the picture covers [-0.5, width - 0.5] x [-0.5, height - 0.5].
template <class T>
struct ImageView {
  T* data = nullptr;
  int width = 0;
  int height = 0;
  std::ptrdiff_t stride = 0;

  ImageView() = default;
  ImageView(T* data, int width, int height) : ImageView(data, width, height, width) {}
  ImageView(T* data, int width, int height, std::ptrdiff_t stride)
      : data(data), width(width), height(height), stride(stride) {}
  /// A writable view reads as well.
  template <class U>
  requires std::is_same_v<T, const U> ImageView(const ImageView<U>& other)
      : data(other.data), width(other.width), height(other.height), stride(other.stride) {}

  bool empty() const { return width <= 0 || height <= 0; }
  T* row(int y) const { return data + y * stride; }
  T& operator()(int x, int y) const { return row(y)[x]; }

  /// The rectangle [x, x + w) x [y, y + h), which must lie inside this view.
  ImageView crop(int x, int y, int w, int h) const {
    assert(x >= 0 && y >= 0 && w >= 0 && h >= 0 && x + w <= width && y + h <= height);
    return {row(y) + x, w, h, stride};
  }
};

/// The smallest owner of pixels: a vector with a width. Converts to a view wherever one is asked.
template <class T>
class Image {
 public:
  Image() = default;
  Image(int width, int height, T value = T())
      : width_(width), height_(height), pixels_(std::size_t(width) * std::size_t(height), value) {
    assert(width >= 0 && height >= 0);
  }

  int width() const { return width_; }
  int height() const { return height_; }
  ImageView<T> view() { return {pixels_.data(), width_, height_}; }
  ImageView<const T> view() const { return {pixels_.data(), width_, height_}; }
  operator ImageView<T>() { return view(); }
  operator ImageView<const T>() const { return view(); }
  T& operator()(int x, int y) { return view()(x, y); }
  const T& operator()(int x, int y) const { return view()(x, y); }

 private:
  int width_ = 0;
  int height_ = 0;
  std::vector<T> pixels_;
};

/// Pixels of 16 bits are in this part of a grey level.
inline constexpr std::int16_t kPixelParts = 128;
using ByteView = ImageView<const std::uint8_t>;
using FloatView = ImageView<const float>;
using PartsView = ImageView<const std::int16_t>;

}  // namespace sdm::image
