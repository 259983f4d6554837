#include "sdm/opencv/video.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "sdm/io/file.h"
#include "sdm/opencv/image.h"
#include "tests/io/expect_error.h"
#include "tests/temporary_folder.h"

namespace sdm::opencv {
namespace {

TEST(AVideo, OfAFolderHasItsPicturesInOrder) {
  const TemporaryFolder folder;
  for (const int grey : {20, 10, 30})
    write_image(folder / (std::to_string(grey) + ".PNG"), cv::Mat(4, 6, CV_8UC1, cv::Scalar(grey)));
  folder.write("notes.txt", "no picture");
  VideoReader video(folder.path().string());
  EXPECT_EQ(video.frames(), 3);
  cv::Mat frame;
  for (const int grey : {10, 20, 30}) {
    ASSERT_TRUE(video.read_grey(frame));
    EXPECT_EQ(frame.at<std::uint8_t>(2, 3), grey);
  }
  EXPECT_FALSE(video.read(frame));
}

TEST(AVideo, NamesAPictureThatIsTooLarge) {
  const TemporaryFolder folder;
  VideoReader video(folder.write("huge.pgm", "P5 100000 100000 255\n").string());
  cv::Mat frame;
  io::expect_error([&] { video.read(frame); }, "huge.pgm: ");
}

TEST(AVideo, TakesItsNameWhenAllFramesCanBeReadBack) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.mp4", "old").string();
  const auto count = [&] {
    return std::distance(std::filesystem::directory_iterator(folder.path()), {});
  };
  {
    VideoWriter writer(path, 25);
    writer.write(cv::Mat(48, 64, CV_8UC3, cv::Scalar(0, 90, 200)));
  }
  EXPECT_EQ(io::read_text(path), "old");
  EXPECT_EQ(count(), 1);
  VideoWriter writer(path, 25);
  for (int i = 0; i < 7; ++i) writer.write(cv::Mat(48, 64, CV_8UC3, cv::Scalar(0, 30 * i, 200)));
  EXPECT_EQ(io::read_text(path), "old");
  writer.finish();
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(VideoReader(path).frames(), 7);
}

}  // namespace
}  // namespace sdm::opencv
