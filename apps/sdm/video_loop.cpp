#include "apps/sdm/video_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <opencv2/imgproc.hpp>

#include "sdm/base/error.h"

namespace sdm::app {

VideoLoop::VideoLoop(const std::string& title, VideoFiles files)
    : files_(std::move(files)), video_(files_.input), progress_(title) {}

bool VideoLoop::next() {
  if (!video_.read(picture_)) return false;
  ++number_;
  if (number_ == 0) size_ = picture_.size();
  if (picture_.size() != size_)
    throw Error(fmt::format("{}: frame {} is {} x {} px, the frames before it {} x {} px",
                            files_.input, number_, picture_.cols, picture_.rows, size_.width,
                            size_.height));
  cv::cvtColor(picture_, grey_, cv::COLOR_BGR2GRAY);
  return true;
}

void VideoLoop::write(const nlohmann::ordered_json& line, const std::string& activity) {
  if (files_.json == "-") {
    progress_.clear();
    fmt::print("{}\n", line.dump());
  } else if (!files_.json.empty()) {
    if (!json_.is_open()) json_.open(files_.json);
    if (!(json_ << line.dump() << '\n'))
      throw Error(fmt::format("{}: cannot be written", files_.json));
  }
  if (draws()) {
    if (!overlay_) overlay_.emplace(files_.overlay, video_.fps());
    overlay_->write(picture_);
  }
  progress_.update(video_.frames() > 0 ? double(number_ + 1) / video_.frames() : 0, activity);
}

int VideoLoop::finish(bool to_the_end) {
  progress_.clear();
  if (json_.is_open() && !json_.flush())
    throw Error(fmt::format("{}: cannot be written to the end", files_.json));
  const int frames = number_ + 1, promised = video_.frames();
  if (frames == 0) throw Error(fmt::format("{}: it holds no frame", files_.input));
  // Containers without an index estimate their length, so a few may be missing.
  if (to_the_end && frames < promised - std::max(2, promised / 50))
    throw Error(fmt::format("{}: {} of {} frames could be read; the file is cut or damaged",
                            files_.input, frames, promised));
  return frames;
}

}  // namespace sdm::app
