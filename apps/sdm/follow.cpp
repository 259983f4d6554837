#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <string>
#include <vector>

#include "adapters/opencv/draw.h"
#include "adapters/opencv/image.h"
#include "adapters/opencv/video.h"
#include "apps/sdm/commands.h"
#include "apps/sdm/progress.h"
#include "sdm/error.h"
#include "sdm/rigid/train_tracker.h"

namespace sdm::app {
namespace {

using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string video, motion = "affine", output, json, select;
  std::vector<double> box;
  bool paper = false;
  rigid::TrackerOptions training;
};

/// Four numbers x,y,w,h, or eight of the corners; the file holds the same, apart by commas or
/// space.
std::vector<double> read_numbers(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(fmt::format("{}: there is no such file", path));
  std::string text(std::istreambuf_iterator<char>(file), {});
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream words(text);
  std::vector<double> numbers;
  for (double number; words >> number;) numbers.push_back(number);
  if (!words.eof()) throw Error(fmt::format("{}: expected numbers only", path));
  return numbers;
}

rigid::Quad region_of(const Arguments& arguments) {
  const std::vector<double> n =
      arguments.select.empty() ? arguments.box : read_numbers(arguments.select);
  if (n.size() == 4) {
    if (!(n[2] > 0 && n[3] > 0))
      throw Error(fmt::format("the box is {:g} x {:g} px, expected a positive width and height",
                              n[2], n[3]));
    return rigid::quad_of_box(n[0], n[1], n[2], n[3]);
  }
  if (n.size() == 8) return Eigen::Map<const rigid::Quad>(n.data());
  throw Error(fmt::format(
      "{} numbers for the region, expected 4 (x,y,width,height) or 8 (x,y of four corners)",
      n.size()));
}

nlohmann::ordered_json to_json(int frame, const rigid::Track& track) {
  const auto rounded = [](double v) { return std::round(v * 1000) / 1000; };
  auto corners = nlohmann::ordered_json::array();
  for (int i = 0; i < 4; ++i)
    corners.push_back({rounded(track.corners(0, i)), rounded(track.corners(1, i))});
  auto warp = nlohmann::ordered_json::array();
  for (int r = 0; r < 3; ++r)
    warp.push_back({track.warp(r, 0), track.warp(r, 1), track.warp(r, 2)});
  return {{"frame", frame},
          {"corners", std::move(corners)},
          {"warp", std::move(warp)},
          {"difference", rounded(track.difference)},
          {"lost", track.lost}};
}

void follow(const Arguments& arguments) {
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);  // we report ourselves
  rigid::TrackerOptions options =
      arguments.paper ? rigid::TrackerOptions::paper() : rigid::TrackerOptions();
  options.motion = rigid::motion_from_string(arguments.motion);
  options.seed = arguments.training.seed;
  options.threads = arguments.training.threads;
  const rigid::Quad region = region_of(arguments);

  opencv::VideoReader video(arguments.video);
  cv::Mat colour, grey;
  if (!video.read(colour)) throw Error(fmt::format("{}: it holds no frame", arguments.video));
  cv::cvtColor(colour, grey, cv::COLOR_BGR2GRAY);
  rigid::TrackerTraining training = rigid::train_tracker(opencv::view(grey), region, options);
  rigid::Tracker& tracker = training.tracker;

  std::ofstream json;
  if (!arguments.json.empty()) {
    json.open(arguments.json);
    if (!json) throw Error(fmt::format("{}: cannot be written", arguments.json));
  }
  std::optional<opencv::VideoWriter> overlay;
  if (!arguments.output.empty()) overlay.emplace(arguments.output, video.fps());

  Progress progress("follow");
  int frames = 0, lost = 0, first_lost = -1;
  double seconds = 0;
  do {
    cv::cvtColor(colour, grey, cv::COLOR_BGR2GRAY);
    const auto start = Clock::now();
    const rigid::Track track = tracker.update(opencv::view(grey));
    seconds += std::chrono::duration<double>(Clock::now() - start).count();
    if (track.lost && lost++ == 0) first_lost = frames;
    if (json.is_open()) json << to_json(frames, track).dump() << '\n';
    if (overlay) {
      opencv::draw_quad(colour, track.corners,
                        track.lost ? cv::Scalar(60, 60, 255) : cv::Scalar(60, 255, 60));
      opencv::draw_caption(colour, fmt::format("{}  {:.0f} %{}", frames, 100 * track.difference,
                                               track.lost ? "  lost" : ""));
      overlay->write(colour);
    }
    ++frames;
    progress.update(video.frames() > 0 ? double(frames) / video.frames() : 0,
                    fmt::format("{:.0f} frames a second", frames / seconds));
  } while (video.read(colour));
  progress.clear();
  if (json.is_open() && !json.flush())
    throw Error(fmt::format("{}: cannot be written to the end", arguments.json));
  fmt::print("{} frames, {} lost{}; learned in {:.2f} s, {:.0f} us a frame\n", frames, lost,
             lost > 0 ? fmt::format(" (the first is {})", first_lost) : "",
             training.summary.seconds, 1e6 * seconds / frames);
}

}  // namespace

void add_follow(CLI::App& app) {
  CLI::App* command = app.add_subcommand("follow", "Follow a flat patch through a video");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("VIDEO", arguments->video,
                   "A video file, a folder of pictures, or a pattern such as frames/%04d.png")
      ->required();
  auto* box = command
                  ->add_option("--box", arguments->box,
                               "What to follow in the first frame: x,y,width,height in pixels, or "
                               "x,y of four corners")
                  ->delimiter(',');
  auto* select =
      command->add_option("--select", arguments->select, "A text file that holds these numbers");
  box->excludes(select);
  command->add_option("--model", arguments->motion, "How it may move")
      ->check(CLI::IsMember({"translation", "similarity", "affine", "homography"}))
      ->capture_default_str();
  command->add_flag("--paper", arguments->paper, "Learn from 300 clean samples, as the paper does");
  command->add_option("-o,--output", arguments->output, "Write the video with the outline, .mp4");
  command->add_option("--json", arguments->json, "Write a line of JSON for each frame");
  command->add_option("--seed", arguments->training.seed, "Seed of the training samples")
      ->capture_default_str();
  command->add_option("--threads", arguments->training.threads, "Threads; 0 takes all cores")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->footer(
      "Example:\n  sdm follow clip.mp4 --box 210,120,100,100 -o out.mp4 --json out.jsonl");
  command->callback([arguments] {
    if (arguments->box.empty() && arguments->select.empty())
      throw Error("nothing says what to follow: give --box x,y,w,h or --select FILE");
    follow(*arguments);
  });
}

}  // namespace sdm::app
