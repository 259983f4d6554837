#include "c/picture.h"

#include <cstdlib>
#include <limits>
#include <string>

#include "c/status.h"
#include "sdm/image/grey.h"

namespace sdm::c {
namespace {

image::Layout layout_of(std::int32_t format) {
  switch (format) {
    case SDM_RGB:
      return image::Layout::rgb;
    case SDM_BGR:
      return image::Layout::bgr;
    case SDM_RGBA:
      return image::Layout::rgba;
    case SDM_BGRA:
      return image::Layout::bgra;
    default:
      throw Error("the picture has the format " + std::to_string(format) +
                  ", expected SDM_GREY, SDM_RGB, SDM_BGR, SDM_RGBA or SDM_BGRA");
  }
}

}  // namespace

image::ByteView Picture::grey(const sdm_image* picture) {
  require(picture, "the picture");
  const int width = picture->width, height = picture->height;
  if (width <= 0 || height <= 0 || picture->data == nullptr)
    throw Error("the picture is " + std::to_string(width) + " x " + std::to_string(height) +
                " pixels, expected at least one, and memory");
  // Beyond this a coordinate is not exact in single precision.
  constexpr int kLargest = 1 << 20;
  if (width > kLargest || height > kLargest)
    throw Error("the picture is " + std::to_string(width) + " x " + std::to_string(height) +
                " pixels, expected sides of at most " + std::to_string(kLargest));
  image::ColourView<std::uint8_t> colour{picture->data, width, height, picture->stride,
                                         image::Layout::rgb};
  const bool is_grey = picture->format == SDM_GREY;
  if (!is_grey) colour.layout = layout_of(picture->format);
  const std::ptrdiff_t row = is_grey ? width : std::ptrdiff_t{width} * colour.channels();
  // Rows may run upwards.
  const std::ptrdiff_t farthest = std::numeric_limits<std::ptrdiff_t>::max() / height;
  if ((picture->stride > -row && picture->stride < row && height > 1) ||
      picture->stride > farthest || picture->stride < -farthest)
    throw Error("rows of " + std::to_string(row) + " bytes lie " + std::to_string(picture->stride) +
                " bytes apart");
  if (is_grey) return {picture->data, width, height, picture->stride};
  pixels_.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  const image::ImageView<std::uint8_t> grey(pixels_.data(), width, height);
  image::to_grey(colour, grey);
  return grey;
}

}  // namespace sdm::c
