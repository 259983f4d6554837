#pragma once

#include <cstddef>
#include <cstdint>

#include "sdm/image/image_view.h"

namespace sdm::image {

enum class Layout { rgb, bgr, rgba, bgra };

/// Interleaved colour pixels of somebody else; rows are `stride` elements (not bytes) apart. Alpha
/// is ignored.
template <class T>
struct ColourView {
  const T* data = nullptr;
  int width = 0;
  int height = 0;
  std::ptrdiff_t stride = 0;
  Layout layout = Layout::rgb;

  int channels() const { return layout == Layout::rgb || layout == Layout::bgr ? 3 : 4; }
};

/// Luma by ITU-R BT.601 in whole numbers, (77 R + 150 G + 29 B) / 256 rounded; 16-bit pixels are
/// brought to 8 bits. Every target gives the same bytes.
/// Needs: `dst` of the same size, not overlapping `src`. Throws: sizes differ. Thread-safe.
void to_grey(const ColourView<std::uint8_t>& src, ImageView<std::uint8_t> dst);
void to_grey(const ColourView<std::uint16_t>& src, ImageView<std::uint8_t> dst);

/// One 16-bit channel to 8 bits: (v + 128) / 256, at most 255.
/// Needs and throws as above. Thread-safe.
void to_grey(ImageView<const std::uint16_t> src, ImageView<std::uint8_t> dst);

}  // namespace sdm::image
