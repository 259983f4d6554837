#include "sdm/opencv/video.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio/registry.hpp>
#include <utility>

#include "sdm/base/error.h"
#include "sdm/opencv/image.h"

namespace sdm::opencv {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> pictures_in(const fs::path& folder) {
  std::vector<fs::path> pictures;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && is_picture(entry.path())) pictures.push_back(entry.path());
  std::sort(pictures.begin(), pictures.end());
  if (pictures.empty()) throw Error(fmt::format("{}: no pictures in this folder", folder.string()));
  return pictures;
}

/// The files of a pattern with one number, such as frame%04d.png, from the first number below 1000
/// that has a file, as long as they follow each other.
std::vector<fs::path> pictures_of(const std::string& pattern) {
  const std::size_t begin = pattern.find('%');
  std::size_t end = begin + 1;
  while (end < pattern.size() && std::isdigit(static_cast<unsigned char>(pattern[end]))) ++end;
  const std::string width = pattern.substr(begin + 1, end - begin - 1);
  if (end >= pattern.size() || pattern[end] != 'd' || width.size() > 2 ||
      pattern.find('%', end) != std::string::npos)
    throw Error(fmt::format("{}: expected one number such as %d or %04d in a pattern", pattern));
  const auto name = [&](int number) {
    const int digits = width.empty() ? 1 : std::stoi(width);
    const std::string text = width.starts_with('0') ? fmt::format("{:0{}}", number, digits)
                                                    : fmt::format("{:{}}", number, digits);
    return fs::path(pattern.substr(0, begin) + text + pattern.substr(end + 1));
  };
  int number = 0;
  while (number < 1000 && !fs::exists(name(number))) ++number;
  std::vector<fs::path> pictures;
  for (; fs::exists(name(number)); ++number) pictures.push_back(name(number));
  if (pictures.empty()) throw Error(fmt::format("{}: no file of this pattern", pattern));
  return pictures;
}

// A name beside the file with the same ending, which tells OpenCV the format: x.0.tmp.mp4.
fs::path free_name(const fs::path& path) {
  for (int number = 0;; ++number) {
    fs::path name = path;
    name.replace_extension(fmt::format("{}.tmp{}", number, path.extension().string()));
    std::error_code ignored;
    if (!fs::exists(name, ignored)) return name;
  }
}

// What OpenCV has for streams, by name.
std::string stream_backends() {
  std::string names;
  for (const cv::VideoCaptureAPIs api : cv::videoio_registry::getStreamBackends())
    names += (names.empty() ? "" : ", ") + cv::videoio_registry::getBackendName(api);
  return names.empty() ? "nothing" : names;
}

}  // namespace

std::vector<fs::path> files_of_video(const std::string& path) {
  if (fs::is_directory(path)) return pictures_in(path);
  if (fs::exists(path)) return {path};
  if (path == "-" || path.find("://") != std::string::npos) return {};
  if (path.find('%') != std::string::npos) return pictures_of(path);
  return {};
}

VideoReader::VideoReader(const std::string& path) {
  const std::vector<fs::path> files = files_of_video(path);
  if (!files.empty()) {
    if (files.front() != path || (is_picture(path) && !is_gif(path))) pictures_ = files;
  } else if (path == "-") {
    // What FFmpeg can tell from its first bytes: MJPEG, YUV4MPEG, MPEG-TS, Matroska, ...
    if (!capture_.open("pipe:0", cv::CAP_FFMPEG))
      throw Error(
          "stdin: cannot be read as a video, expected a stream that FFmpeg knows by its first "
          "bytes (MJPEG, YUV4MPEG, MPEG-TS, Matroska) and an OpenCV built with FFmpeg");
  } else if (path.find("://") != std::string::npos) {
    if (!capture_.open(path))
      throw Error(fmt::format("{}: cannot be opened; this OpenCV opens streams with {}", path,
                              stream_backends()));
  } else if (path.size() < 4 && std::all_of(path.begin(), path.end(),
                                            [](unsigned char c) { return std::isdigit(c) != 0; })) {
    if (path.empty() || !capture_.open(std::stoi(path)))
      throw Error(fmt::format("camera {}: cannot be opened", path));
  } else {
    throw Error(fmt::format("{}: there is no such file or folder", path));
  }
  if (!pictures_.empty()) {
    frames_ = static_cast<int>(pictures_.size());
    return;
  }
  if (!capture_.isOpened() && !capture_.open(path))
    throw Error(fmt::format("{}: cannot be read as a video", path));
  const double count = capture_.get(cv::CAP_PROP_FRAME_COUNT);
  const double fps = capture_.get(cv::CAP_PROP_FPS);
  if (std::isfinite(count) && count > 0) frames_ = static_cast<int>(std::min(count, 1e9));
  if (std::isfinite(fps) && fps > 0) fps_ = fps;
}

bool VideoReader::read(cv::Mat& bgr) {
  if (pictures_.empty()) return capture_.read(bgr);
  if (next_ == pictures_.size()) return false;
  bgr = read_colour(pictures_[next_++]);
  return true;
}

bool VideoReader::read_grey(cv::Mat& grey) {
  if (!read(colour_)) return false;
  cv::cvtColor(colour_, grey, cv::COLOR_BGR2GRAY);
  return true;
}

VideoWriter::VideoWriter(VideoWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      frames_(other.frames_),
      fps_(other.fps_),
      size_(other.size_),
      writer_(other.writer_) {}  // OpenCV's shares what it writes with its copies

VideoWriter::~VideoWriter() {
  if (temporary_.empty()) return;
  writer_.release();
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void VideoWriter::finish() {
  if (temporary_.empty()) return;
  writer_.release();
  int found = 0;
  cv::VideoCapture video(temporary_.string());
  while (video.isOpened() && video.grab()) ++found;
  video.release();
  if (found < frames_)
    throw Error(
        fmt::format("{}: {} of {} frames were written; is the disk full?", path_, found, frames_));
  std::error_code failed;
  fs::rename(temporary_, path_, failed);
  if (failed)
    throw Error(fmt::format("{}: cannot replace the old file: {}", path_, failed.message()));
  temporary_.clear();
}

void VideoWriter::write(const cv::Mat& bgr) {
  if (!writer_.isOpened()) {
    size_ = bgr.size();
    temporary_ = free_name(path_);
    if (!writer_.open(temporary_.string(), cv::VideoWriter::fourcc('m', 'p', '4', 'v'), fps_,
                      size_))
      throw Error(
          fmt::format("{}: cannot be written as a video (is the folder there, and does the "
                      "name end in .mp4 or .avi?)",
                      path_));
  }
  if (bgr.size() != size_)
    throw Error(fmt::format("{}: a frame of {} x {} px after frames of {} x {} px", path_, bgr.cols,
                            bgr.rows, size_.width, size_.height));
  writer_.write(bgr);
  ++frames_;
}

}  // namespace sdm::opencv
