#pragma once

#include <nlohmann/json_fwd.hpp>
#include <opencv2/core.hpp>
#include <optional>
#include <string>

#include "apps/sdm/output.h"
#include "apps/sdm/platform.h"
#include "apps/sdm/progress.h"
#include "sdm/io/file.h"
#include "sdm/opencv/video.h"

namespace sdm::app {

/// What a command reads and writes that goes through a video.
struct VideoFiles {
  std::string input;    // whatever opencv::VideoReader reads
  std::string overlay;  // .mp4 with the drawings; empty: none
  std::string json;     // a line of JSON for each frame; empty: none, "-": stdout
};

/// The files checked as Outputs checks them, before the work.
Outputs prepare_outputs(const VideoFiles& files);

/// Goes through a video frame by frame: reads, writes the overlay video and the JSON lines, and
/// tells how far it is.
///
///   VideoLoop loop("follow", files);
///   while (loop.next()) {
///     look at loop.grey();
///     if (loop.draws()) draw on loop.picture();
///     loop.write(line);
///   }
///   loop.finish();
///
/// The outputs are opened by the first write and take their names at the end, so that a run that
/// fails before leaves what was there. Wherever the video ends, by a frame that cannot be read or
/// by SIGINT or SIGTERM (a camera never ends), they hold every frame up to there.
class VideoLoop {
 public:
  /// Throws Error if the input cannot be read.
  VideoLoop(const std::string& title, VideoFiles files);
  ~VideoLoop();
  VideoLoop(const VideoLoop&) = delete;
  VideoLoop& operator=(const VideoLoop&) = delete;

  /// Reads the next frame; false at the end, or when asked to stop. Throws Error naming a frame
  /// that cannot be read or has another size than the first.
  bool next();

  int number() const { return number_; }  ///< of the frame, from 0
  double seconds() const { return number_ / video_.fps(); }
  const cv::Mat& grey() const { return grey_; }
  cv::Mat& picture() { return picture_; }  ///< BGR; what is drawn on it goes to the overlay
  bool draws() const { return !files_.overlay.empty(); }

  /// Keeps what the frame gave; `activity` is shown beside the progress.
  void write(const nlohmann::ordered_json& line, const std::string& activity = "");

  /// Throws Error if there was no frame, if the file promised more of them than it gave (unless the
  /// caller stopped before its end), or if an output cannot be written to the end. Gives the number
  /// of frames.
  int finish(bool to_the_end = true);

 private:
  void finish_files();

  StopSignals signals_;
  VideoFiles files_;
  opencv::VideoReader video_;
  cv::Mat picture_, grey_;
  cv::Size size_;
  int number_ = -1;
  std::optional<io::OutputFile> json_;
  std::optional<opencv::VideoWriter> overlay_;
  Progress progress_;
};

}  // namespace sdm::app
