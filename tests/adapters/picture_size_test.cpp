#include "sdm/opencv/picture_size.h"

#include <gtest/gtest.h>

#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <sstream>

#include "sdm/base/error.h"
#include "sdm/io/file.h"
#include "sdm/opencv/image.h"
#include "tests/io/expect_error.h"
#include "tests/temporary_folder.h"

namespace sdm::opencv {
namespace {

void expect_size_as_read(const std::filesystem::path& path, const cv::Size& expected) {
  const auto picture = read_grey(path);
  const image::ByteView grey = picture;
  EXPECT_EQ(cv::Size(grey.width, grey.height), expected) << path;
  EXPECT_EQ(picture_size(path), expected) << path;
}

TEST(PictureSize, IsThatOfThePictureAsItIsRead) {
  const TemporaryFolder folder;
  const cv::Mat picture(30, 41, CV_8UC3, cv::Scalar(10, 100, 200));
  for (const char* name : {"a.png", "a.jpg", "a.bmp", "a.ppm", "a.tif"}) {
    cv::imwrite((folder / name).string(), picture);
    expect_size_as_read(folder / name, {41, 30});
  }
}

TEST(PictureSize, APictureOnItsSideIsUpright) {
  const TemporaryFolder folder;
  cv::imwrite((folder / "a.jpg").string(), cv::Mat(30, 41, CV_8UC1, cv::Scalar(90)));
  std::ostringstream text;
  text << std::ifstream(folder / "a.jpg", std::ios::binary).rdbuf();
  const std::string jpeg = text.str();
  for (const char orientation : {'\1', '\3', '\6', '\x8'}) {
    // One entry: tag 0x112, a short, one of them.
    const std::string exif = std::string("Exif\0\0MM\0*\0\0\0\x8\0\1\1\x12\0\3\0\0\0\1\0", 25) +
                             orientation + std::string("\0\0\0\0\0\0", 6);
    const auto length = static_cast<char>(exif.size() + 2);
    const auto path = folder.write(
        "b.jpg", jpeg.substr(0, 2) + std::string("\xFF\xE1\0", 3) + length + exif + jpeg.substr(2));
    expect_size_as_read(path, orientation >= 5 ? cv::Size(30, 41) : cv::Size(41, 30));
  }
}

TEST(PictureSize, WhatIsNoPictureIsNamed) {
  const TemporaryFolder folder;
  for (const char* text : {"", "junk", "\xFF\xD8", "\xFF\xD8\xFF\xC0", "\x89PNG\r\n\x1a\n"})
    EXPECT_THROW(picture_size(folder.write("a.jpg", text)), Error);
  EXPECT_THROW(picture_size(folder / "none.png"), Error);
}

// OpenCV gives the part that is there and grey below it.
TEST(APicture, ThatIsCutIsRefused) {
  const TemporaryFolder folder;
  cv::Mat picture(60, 80, CV_8UC3);
  cv::randu(picture, 0, 255);
  for (const char* name : {"a.png", "a.jpg", "a.bmp", "a.ppm", "a.tif", "a.webp"}) {
    cv::imwrite((folder / name).string(), picture);
    const std::string whole = io::read_text(folder / name);
    EXPECT_NO_THROW(read_grey(folder / name)) << name;
    for (const double share : {0.1, 0.5, 0.9, 0.99})
      EXPECT_THROW(
          read_grey(folder.write(name, whole.substr(0, std::size_t(share * double(whole.size()))))),
          Error)
          << name << " " << share;
  }
}

// Its thumbnail has an end of its own.
TEST(APicture, WithAWholePictureInItsHeaderIsCutAllTheSame) {
  const TemporaryFolder folder;
  cv::imwrite((folder / "a.jpg").string(), cv::Mat(30, 41, CV_8UC1, cv::Scalar(90)));
  const std::string jpeg = io::read_text(folder / "a.jpg");
  const std::size_t length = jpeg.size() + 2;
  const std::string with = jpeg.substr(0, 2) + "\xFF\xE1" + char(length / 256) +
                           char(length % 256) + jpeg + jpeg.substr(2);
  EXPECT_NO_THROW(read_grey(folder.write("b.jpg", with)));
  EXPECT_THROW(read_grey(folder.write("b.jpg", with.substr(0, with.size() - 40))), Error);
}

TEST(APicture, OfTooManyPixelsIsRefusedByItsHeader) {
  const TemporaryFolder folder;
  cv::imwrite((folder / "a.png").string(), cv::Mat(30, 41, CV_8UC1, cv::Scalar(90)));
  EXPECT_NO_THROW(picture_bytes(folder / "a.png", {.pixels = 1230}));
  io::expect_error([&] { picture_bytes(folder / "a.png", {.pixels = 1229}); },
                   "41 x 30 pixels, the limit is 1229");
  io::expect_error([&] { picture_bytes(folder / "a.png", {.bytes = 10}); }, "more than 10 bytes");
}

}  // namespace
}  // namespace sdm::opencv
