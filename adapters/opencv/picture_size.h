#pragma once

#include <filesystem>
#include <opencv2/core.hpp>

namespace sdm::opencv {

/// The size of the picture that read_grey would give, from the file's header where that tells it
/// (JPEG, PNG), else by reading it. Throws: as read_grey does; a header is believed. Thread-safe.
cv::Size picture_size(const std::filesystem::path& path);

}  // namespace sdm::opencv
