#include "sdm/opencv/image.h"

#include <gmock/gmock.h>

#include <opencv2/imgcodecs.hpp>

#include "sdm/base/error.h"
#include "tests/io/expect_error.h"
#include "tests/temporary_folder.h"

namespace sdm::opencv {
namespace {

using io::expect_error;

// 8-bit BGR with every pixel another colour.
cv::Mat colours() {
  cv::Mat picture(40, 50, CV_8UC3);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 50; ++x)
      picture.at<cv::Vec3b>(y, x) = {std::uint8_t(5 * x), std::uint8_t(6 * y),
                                     std::uint8_t(x + 5 * y)};
  return picture;
}

// Luma by its definition, in floating point.
double luma(double blue, double green, double red) {
  return 0.114 * blue + 0.587 * green + 0.299 * red;
}

void expect_luma(const image::Image<std::uint8_t>& grey, const cv::Mat& bgr) {
  ASSERT_EQ(grey.width(), bgr.cols);
  ASSERT_EQ(grey.height(), bgr.rows);
  for (int y = 0; y < bgr.rows; ++y)
    for (int x = 0; x < bgr.cols; ++x) {
      const cv::Vec3b p = bgr.at<cv::Vec3b>(y, x);
      ASSERT_NEAR(grey(x, y), luma(p[0], p[1], p[2]), 1.5) << x << "," << y;
    }
}

TEST(OpencvImage, ColourAlphaAndDepthGiveTheSameGrey) {
  const TemporaryFolder folder;
  const cv::Mat bgr = colours();
  cv::Mat wide, with_alpha(40, 50, CV_8UC4), floats;
  bgr.convertTo(wide, CV_16UC3, 257);
  bgr.convertTo(floats, CV_32FC3, 1 / 255.0);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 50; ++x) {
      const cv::Vec3b p = bgr.at<cv::Vec3b>(y, x);
      with_alpha.at<cv::Vec4b>(y, x) = {p[0], p[1], p[2], std::uint8_t(x)};
    }
  for (const cv::Mat& picture : {bgr, wide, with_alpha}) {
    write_image(folder / "picture.png", picture);
    expect_luma(read_grey(folder / "picture.png"), bgr);
  }
  expect_luma(to_grey(floats), bgr);
  expect_luma(to_grey(bgr(cv::Rect(3, 4, 20, 30))), bgr(cv::Rect(3, 4, 20, 30)));
}

TEST(OpencvImage, GreyIsKeptAndSixteenBitsAreBroughtToEight) {
  const TemporaryFolder folder;
  cv::Mat grey(30, 256, CV_8UC1), wide;
  for (int x = 0; x < 256; ++x) grey.col(x).setTo(x);
  grey.convertTo(wide, CV_16UC1, 256);
  write_image(folder / "new" / "grey.png", grey);
  write_image(folder / "wide.tiff", wide);
  for (const auto& path : {folder / "new" / "grey.png", folder / "wide.tiff"}) {
    const image::Image<std::uint8_t> read = read_grey(path);
    for (int x = 0; x < 256; ++x) ASSERT_EQ(read(x, 7), x) << path;
  }
  EXPECT_EQ(read_colour(folder / "wide.tiff").type(), CV_8UC3);
}

TEST(OpencvImage, ViewsShareThePixels) {
  cv::Mat grey(10, 20, CV_8UC1, cv::Scalar(0));
  const cv::Mat part = grey(cv::Rect(5, 2, 8, 6));
  const image::ByteView seen = view(part);
  grey.at<std::uint8_t>(4, 7) = 9;
  EXPECT_EQ(seen(2, 2), 9);
  EXPECT_EQ(seen.width, 8);
  EXPECT_EQ(mat(seen).at<std::uint8_t>(2, 2), 9);
  expect_error([] { view(colours()); }, "CV_8UC3, expected one channel of 8 bits");
}

TEST(OpencvImage, WhatCannotBeReadOrWrittenIsNamed) {
  const TemporaryFolder folder;
  expect_error([&] { read_grey(folder / "none.png"); }, "none.png: no such file");
  expect_error([&] { read_grey(folder.path()); }, "not a file");
  expect_error([&] { read_grey(folder.write("text.jpg", "hello")); }, "text.jpg: not a picture");
  expect_error([&] { read_grey(folder.write("empty.png", "")); }, "empty.png: not a picture");
  expect_error([&] { write_image(folder / "a.nonsense", colours()); }, "a.nonsense: cannot be");
  expect_error([&] { write_image(folder / "text.jpg" / "a.png", colours()); }, "cannot be written");
  expect_error([] { to_grey(cv::Mat(2, 2, CV_8UC2)); }, "2 channels");
  expect_error([] { to_grey(cv::Mat(2, 2, CV_32SC1)); }, "CV_32SC1");
}

TEST(OpencvImage, TwelveBitsInSixteenComeOutInFullBrightness) {
  const TemporaryFolder folder;
  for (const auto& [bits, largest] :
       {std::pair(10, 1000), std::pair(12, 4000), std::pair(16, 64000)}) {
    cv::Mat wide(20, 30, CV_16UC1);
    for (int x = 0; x < 30; ++x) wide.col(x).setTo(largest * x / 29);
    write_image(folder / "wide.png", wide);
    const auto grey = read_grey(folder / "wide.png");
    EXPECT_NEAR(grey(29, 10), largest * 256.0 / (1 << bits), 1.5) << bits;
    EXPECT_NEAR(grey(15, 10), largest * 15 / 29 * 256.0 / (1 << bits), 1.5) << bits;
    EXPECT_NEAR(read_colour(folder / "wide.png").at<cv::Vec3b>(10, 29)[1], grey(29, 10), 1.5);
  }
}

TEST(OpencvImage, AGifIsReadOrRefusedByName) {
  const TemporaryFolder folder;
  // One white pixel.
  const unsigned char bytes[] = {'G', 'I', 'F', '8', '9', 'a', 1, 0,    1, 0, 0x80, 0,
                                 0,   255, 255, 255, 0,   0,   0, 0x2c, 0, 0, 0,    0,
                                 1,   0,   1,   0,   0,   2,   2, 0x44, 1, 0, 0x3b};
  const auto file = folder.write("white.gif", std::string(std::begin(bytes), std::end(bytes)));
  EXPECT_TRUE(is_picture(file));
  try {
    const auto grey = read_grey(file);
    EXPECT_EQ(grey.width(), 1);
    EXPECT_GT(grey(0, 0), 230);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("white.gif: not a picture"));
  }
}

}  // namespace
}  // namespace sdm::opencv
