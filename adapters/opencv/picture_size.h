#pragma once

#include <cstdint>
#include <filesystem>
#include <opencv2/core.hpp>
#include <string>

namespace sdm::opencv {

/// The size of the picture that read_grey would give, from the file's header where that tells it
/// (JPEG, PNG), else by reading it. Throws: as read_grey does; a header is believed. Thread-safe.
cv::Size picture_size(const std::filesystem::path& path);

/// What is refused of a picture.
struct PictureLimits {
  std::uint64_t bytes = std::uint64_t{1} << 30;   ///< of the file
  std::uint64_t pixels = std::uint64_t{1} << 28;  ///< as its header tells them
};

/// The file as it is. Throws Error: it cannot be opened, and why; it is larger than allowed; it is
/// a JPEG or PNG that ends before its end, of which OpenCV would read the part that is there.
std::string picture_bytes(const std::filesystem::path& path, const PictureLimits& limits = {});

/// Throws Error: more pixels than allowed.
void check_pixels(const std::filesystem::path& path, const cv::Size& size,
                  const PictureLimits& limits = {});

}  // namespace sdm::opencv
