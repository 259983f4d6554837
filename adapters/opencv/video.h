#pragma once

#include <filesystem>
#include <opencv2/videoio.hpp>
#include <string>
#include <vector>

namespace sdm::opencv {

/// The files that a VideoReader of this path reads; none of a camera or a stream. Throws Error
/// where a folder or a pattern has none.
std::vector<std::filesystem::path> files_of_video(const std::string& path);

/// Frames one after the other, out of a video file, a folder of pictures (in the order of their
/// names), a pattern such as frames/%04d.png, a single picture, a camera by its number, a stream by
/// its address (rtsp://, http://), or "-" for stdin.
class VideoReader {
 public:
  /// Throws Error if there is nothing there or it cannot be read as pictures.
  explicit VideoReader(const std::string& path);

  /// The next frame, colour (BGR) or grey; false at the end. Throws Error naming a picture that
  /// cannot be read.
  bool read(cv::Mat& bgr);
  bool read_grey(cv::Mat& grey);

  int frames() const { return frames_; }  ///< 0 where the file does not tell
  double fps() const { return fps_; }     ///< 25 for pictures

 private:
  std::vector<std::filesystem::path> pictures_;  // empty: a video file
  std::size_t next_ = 0;
  cv::VideoCapture capture_;
  cv::Mat colour_;
  int frames_ = 0;
  double fps_ = 25;
};

/// Writes an mp4 (or what the name's ending asks for), opened with the first frame's size.
///
/// OpenCV does not say whether a frame reached the disk. So the frames go to a file of another name
/// beside it, which `finish` reads back and, if it holds them all, gives its name.
class VideoWriter {
 public:
  VideoWriter(std::string path, double fps) : path_(std::move(path)), fps_(fps) {}
  VideoWriter(VideoWriter&& other) noexcept;
  VideoWriter& operator=(VideoWriter&&) = delete;
  /// Without `finish` the video is gone, and what was there before stays.
  ~VideoWriter();

  /// Throws Error if the file cannot be written or the frame has another size than the first.
  void write(const cv::Mat& bgr);
  /// Throws Error if a frame is missing. Does nothing where there was none.
  void finish();

 private:
  std::string path_;
  std::filesystem::path temporary_;
  int frames_ = 0;
  double fps_;
  cv::Size size_;
  cv::VideoWriter writer_;
};

}  // namespace sdm::opencv
