#include "sdm/opencv/picture_size.h"

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "sdm/opencv/image.h"

namespace sdm::opencv {
namespace {

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
  if (start == "\x89PNG\r\n\x1a\n") return png_size(file);
  file.clear();
  file.seekg(2);
  if (start.starts_with("\xFF\xD8")) return jpeg_size(file);
  return {};
}

}  // namespace

cv::Size picture_size(const std::filesystem::path& path) {
  if (const auto size = size_in_header(path); size && size->width > 0 && size->height > 0)
    return *size;
  const image::Image<std::uint8_t> picture = read_grey(path);
  const image::ByteView grey = picture;
  return {grey.width, grey.height};
}

}  // namespace sdm::opencv
