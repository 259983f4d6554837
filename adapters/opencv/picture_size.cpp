#include "sdm/opencv/picture_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "sdm/base/error.h"
#include "sdm/io/file.h"
#include "sdm/opencv/image.h"

namespace sdm::opencv {
namespace {

constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n";

unsigned byte(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
}

unsigned number(std::string_view text, std::size_t at, std::size_t bytes, bool little = false) {
  unsigned value = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    value = 256 * value + byte(text, at + (little ? bytes - 1 - i : i));
  return value;
}

std::string take(std::ifstream& file, std::size_t count) {
  std::string text(count, '\0');
  file.read(text.data(), std::streamsize(count));
  text.resize(std::size_t(file.gcount()));
  return text;
}

// Whether an Exif segment has the picture lie on its side: orientations 5 to 8.
bool lies(std::string_view exif) {
  const std::string_view tiff = exif.substr(6);  // after "Exif" and two zeros
  const bool little = tiff.starts_with("II");
  const std::size_t first = number(tiff, 4, 4, little), count = number(tiff, first, 2, little);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = first + 2 + 12 * i;
    if (number(tiff, entry, 2, little) == 0x112) return number(tiff, entry + 8, 2, little) >= 5;
  }
  return false;
}

std::optional<cv::Size> jpeg_size(std::ifstream& file) {
  bool on_its_side = false;
  while (true) {
    const std::string head = take(file, 4);
    if (head.size() < 4 || byte(head, 0) != 0xFF) return {};
    const unsigned marker = byte(head, 1), length = number(head, 2, 2);
    if (length < 2) return {};
    if (marker == 0xE1) {
      const std::string segment = take(file, length - 2);
      if (segment.starts_with(std::string_view("Exif\0\0", 6))) on_its_side = lies(segment);
    } else if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 &&
               marker != 0xCC) {
      const std::string frame = take(file, 5);
      const cv::Size size(int(number(frame, 3, 2)), int(number(frame, 1, 2)));
      return on_its_side ? cv::Size(size.height, size.width) : size;
    } else {
      file.seekg(std::streamoff(length) - 2, std::ios::cur);
    }
  }
}

// None where the file may tell which way is up: then it is read.
std::optional<cv::Size> png_size(std::ifstream& file) {
  std::optional<cv::Size> size;
  while (true) {
    const std::string head = take(file, 8);
    if (head.size() < 8 || head.ends_with("eXIf")) return {};
    if (head.ends_with("IDAT")) return size;
    std::streamoff left = std::streamoff(number(head, 0, 4)) + 4;
    if (head.ends_with("IHDR")) {
      const std::string sizes = take(file, 8);
      left -= 8;
      size = cv::Size(int(number(sizes, 0, 4)), int(number(sizes, 4, 4)));
    }
    file.seekg(left, std::ios::cur);
  }
}

std::optional<cv::Size> size_in_header(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string start = take(file, 8);
  if (start == kPng) return png_size(file);
  file.clear();
  file.seekg(2);
  if (start.starts_with("\xFF\xD8")) return jpeg_size(file);
  return {};
}

// Whether the segments of a JPEG go on to the mark of its end. What is no JPEG after the first mark
// is left to the decoder.
bool is_whole_jpeg(std::string_view text) {
  std::size_t at = 2;
  while (at + 1 < text.size()) {
    if (byte(text, at) != 0xFF) return true;
    const unsigned marker = byte(text, at + 1);
    if (marker == 0xFF) {  // filling
      ++at;
      continue;
    }
    at += 2;
    if (marker == 0xD9) return true;
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7)) continue;
    at += std::max(2U, number(text, at, 2));
    if (marker != 0xDA) continue;
    // The picture's data, in which a marker's first byte is followed by zero or a restart.
    while (at + 1 < text.size()) {
      at = std::min(text.find('\xFF', at), text.size());
      const unsigned next = byte(text, at + 1);
      if (next != 0 && next != 0xFF && (next < 0xD0 || next > 0xD7)) break;
      ++at;
    }
  }
  return false;
}

bool is_whole_png(std::string_view text) {
  for (std::size_t at = 8; at + 12 <= text.size(); at += 12 + std::size_t{number(text, at, 4)})
    if (text.substr(at + 4).starts_with("IEND")) return true;
  return false;
}

}  // namespace

void check_pixels(const std::filesystem::path& path, const cv::Size& size,
                  const PictureLimits& limits) {
  if (size.width > 0 && size.height > 0 &&
      std::uint64_t(size.width) * std::uint64_t(size.height) > limits.pixels)
    throw Error(fmt::format("{}: a picture of {} x {} pixels, the limit is {} in all",
                            path.string(), size.width, size.height, limits.pixels));
}

std::string picture_bytes(const std::filesystem::path& path, const PictureLimits& limits) {
  std::string text = io::read_text(path, {.bytes = limits.bytes});
  const bool jpeg = text.starts_with("\xFF\xD8"), png = text.starts_with(kPng);
  if ((jpeg && !is_whole_jpeg(text)) || (png && !is_whole_png(text)))
    throw Error(
        fmt::format("{}: the picture is cut: it ends after {} bytes", path.string(), text.size()));
  if (const auto size = size_in_header(path)) check_pixels(path, *size, limits);
  return text;
}

cv::Size picture_size(const std::filesystem::path& path) {
  if (const auto size = size_in_header(path); size && size->width > 0 && size->height > 0)
    return *size;
  const image::Image<std::uint8_t> picture = read_grey(path);
  const image::ByteView grey = picture;
  return {grey.width, grey.height};
}

}  // namespace sdm::opencv
