#pragma once

#include <cstdint>
#include <filesystem>
#include <opencv2/core.hpp>

#include "sdm/image/image_view.h"

namespace sdm::opencv {

/// The pixels of a one-channel 8-bit matrix, without a copy. Throws: another type.
image::ByteView view(const cv::Mat& grey);

/// A matrix on somebody else's pixels, without a copy. To be read only.
cv::Mat mat(image::ByteView grey);

/// Grey of a matrix with one, three (BGR) or four (BGRA) channels of 8 or 16 bits, or of floats
/// from 0 to 1. Alpha is ignored. Throws: anything else.
image::Image<std::uint8_t> to_grey(const cv::Mat& picture);

/// By the name's ending: one of the formats that OpenCV reads.
bool is_picture(const std::filesystem::path& path);

/// Every picture of a folder and below, by its name, in order, so that nothing depends on the file
/// system. Folders that may not be read are passed over. Throws: there is no such folder.
std::vector<std::filesystem::path> pictures_below(const std::filesystem::path& folder);

/// Likewise; OpenCV reads a GIF as a video.
bool is_gif(const std::filesystem::path& path);

/// Reads a picture of any depth, grey or colour, upright as its EXIF data says; alpha is dropped.
/// 16-bit files with 10 or 12 bits of data come out in full brightness; of a GIF the first picture.
/// Throws: there is no such file; it is not a picture, or too large for OpenCV (a gigapixel).
/// Thread-safe.
image::Image<std::uint8_t> read_grey(const std::filesystem::path& path);

/// The same as 8-bit BGR, to draw on.
cv::Mat read_colour(const std::filesystem::path& path);

/// Writes a picture, making its folder; the extension tells the format. Throws: naming the file.
void write_image(const std::filesystem::path& path, const cv::Mat& picture);

}  // namespace sdm::opencv
