#include "apps/sdm/video_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "apps/sdm/tell.h"
#include "sdm/base/error.h"

namespace sdm::app {

Outputs prepare_outputs(const VideoFiles& files) {
  Outputs outputs;
  outputs.reads(opencv::files_of_video(files.input));
  if (files.json != "-") outputs.writes(files.json);
  outputs.writes(files.overlay, Outputs::Kind::whole);
  return outputs;
}

VideoLoop::VideoLoop(const std::string& title, VideoFiles files)
    : files_(std::move(files)), video_(files_.input), progress_(title) {}

VideoLoop::~VideoLoop() {
  try {
    finish_files();
  } catch (const std::exception&) {  // whoever left the loop early says why
  }
}

bool VideoLoop::next() {
  if (StopSignals::asked() || !video_.read(picture_)) return false;
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
  try {
    if (files_.json == "-") {
      progress_.clear();
      put_text(line.dump() + "\n");
    } else if (!files_.json.empty()) {
      if (!json_) json_.emplace(files_.json);
      json_->write(line.dump() + "\n");
    }
    if (draws()) {
      if (!overlay_) overlay_.emplace(files_.overlay, video_.fps());
      overlay_->write(picture_);
    }
  } catch (const Error&) {
    json_.reset();  // what ends here is no output, and the old ones stay
    overlay_.reset();
    throw;
  }
  progress_.update(video_.frames() > 0 ? double(number_ + 1) / video_.frames() : 0, activity);
}

void VideoLoop::finish_files() {
  // Each is tried once, whether the other fails or not.
  auto json = std::exchange(json_, std::nullopt);
  auto overlay = std::exchange(overlay_, std::nullopt);
  if (json) json->finish();
  if (overlay) overlay->finish();
}

int VideoLoop::finish(bool to_the_end) {
  progress_.clear();
  finish_files();
  const int frames = number_ + 1, promised = video_.frames();
  if (frames == 0) throw Error(fmt::format("{}: it holds no frame", files_.input));
  // Containers without an index estimate their length, so a few may be missing.
  if (to_the_end && !StopSignals::asked() && frames < promised - std::max(2, promised / 50))
    throw Error(fmt::format("{}: {} of {} frames could be read; the file is cut or damaged",
                            files_.input, frames, promised));
  return frames;
}

}  // namespace sdm::app
