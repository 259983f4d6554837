#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/sdm/commands.h"
#include "apps/sdm/numbers.h"
#include "apps/sdm/video_loop.h"
#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/io/file.h"
#include "sdm/opencv/draw.h"
#include "sdm/opencv/image.h"
#include "sdm/rigid/train/train_tracker.h"

namespace sdm::app {
namespace {

using Clock = std::chrono::steady_clock;

struct FollowArguments {
  VideoFiles files;
  std::string motion = "affine", select, load, save;
  std::vector<double> box;
  bool paper = false;
  std::uint64_t seed = 1;
  int threads = 0;
};

/// Four numbers x,y,w,h, or eight of the corners; the file holds the same, apart by commas or
/// space.
std::vector<double> read_numbers(const std::string& path) {
  const TextLines file = io::read_lines(path);
  std::vector<double> numbers;
  try {
    for (const std::string_view line : file.lines)
      for (const double number : to_numbers(line, ", \t")) numbers.push_back(number);
  } catch (const Error&) {
    throw Error(fmt::format("{}: expected numbers only", path));
  }
  return numbers;
}

/// What the arguments say, if they say it.
std::optional<rigid::Quad> region_of(const FollowArguments& arguments) {
  if (!arguments.select.empty()) return rigid::quad_of_numbers(read_numbers(arguments.select));
  if (!arguments.box.empty()) return rigid::quad_of_numbers(arguments.box);
  return std::nullopt;
}

/// The tracker that was saved, at its own place or at the region; or one that learns the region.
rigid::Tracker make_tracker(const FollowArguments& arguments,
                            const std::optional<rigid::Quad>& region, image::ByteView frame) {
  if (!arguments.load.empty()) {
    rigid::Tracker tracker(rigid::TrackerModel::load(arguments.load));
    if (region) tracker.restart(warp_to(tracker.model().shape, *region));
    return tracker;
  }
  rigid::TrainTrackerOptions options =
      arguments.paper ? rigid::TrainTrackerOptions::paper() : rigid::TrainTrackerOptions();
  options.motion = rigid::motion_from_string(arguments.motion);
  options.seed = arguments.seed;
  options.threads = arguments.threads;
  options.provenance = fmt::format("the first frame of {}", arguments.files.input);
  rigid::Tracker tracker = rigid::train_tracker(frame, *region, options).tracker;
  if (!arguments.save.empty()) tracker.model().save(arguments.save);
  return tracker;
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

void follow(const FollowArguments& arguments) {
  const std::optional<rigid::Quad> region = region_of(arguments);
  VideoLoop loop("follow", arguments.files);
  std::optional<rigid::Tracker> tracker;
  int lost = 0, first_lost = -1;
  double learned = 0, seconds = 0;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  while (loop.next()) {
    const image::ByteView frame = opencv::view(loop.grey());
    auto start = Clock::now();
    if (!tracker) {
      tracker = make_tracker(arguments, region, frame);
      learned = since(start);
      start = Clock::now();
    }
    const rigid::Track track = tracker->update(frame);
    seconds += since(start);
    if (track.lost && lost++ == 0) first_lost = loop.number();
    if (loop.draws()) {
      opencv::draw_quad(loop.picture(), track.corners,
                        track.lost ? cv::Scalar(60, 60, 255) : cv::Scalar(60, 255, 60));
      opencv::draw_caption(loop.picture(),
                           fmt::format("{}  {:.0f} %{}", loop.number(), 100 * track.difference,
                                       track.lost ? "  lost" : ""));
    }
    loop.write(to_json(loop.number(), track),
               fmt::format("{:.0f} frames a second", (loop.number() + 1) / seconds));
  }
  const int frames = loop.finish();
  fmt::print(arguments.files.json == "-" ? stderr : stdout,
             "{} frames, {} lost{}; {} in {:.2f} s, {:.0f} us a frame\n", frames, lost,
             lost > 0 ? fmt::format(" (the first is {})", first_lost) : "",
             arguments.load.empty() ? "learned" : "loaded", learned, 1e6 * seconds / frames);
}

}  // namespace

void add_follow(CLI::App& app) {
  CLI::App* command = app.add_subcommand("follow", "Follow a flat patch through a video");
  auto arguments = std::make_shared<FollowArguments>();
  command
      ->add_option("VIDEO", arguments->files.input,
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
  auto* load = command->add_option(
      "--load", arguments->load,
      "A tracker that was saved, instead of learning; it starts where it was, or at the region");
  auto* motion = command->add_option("--model", arguments->motion, "How it may move")
                     ->check(CLI::IsMember({"translation", "similarity", "affine", "homography"}))
                     ->capture_default_str();
  auto* paper = command->add_flag("--paper", arguments->paper,
                                  "Learn from 300 clean samples, as the paper does");
  auto* save = command->add_option("--save", arguments->save, "Keep the tracker as a model file");
  load->excludes(motion)->excludes(paper)->excludes(save);
  command->add_option("-o,--output", arguments->files.overlay,
                      "Write the video with the outline, .mp4");
  command->add_option("--json", arguments->files.json,
                      "Write a line of JSON for each frame; - is stdout");
  command->add_option("--seed", arguments->seed, "Seed of the training samples")
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "Threads; 0 takes all cores")
      ->check(kNotNegative)
      ->capture_default_str();
  command->footer(
      "Example:\n  sdm follow clip.mp4 --box 210,120,100,100 -o out.mp4 --json out.jsonl");
  command->callback([arguments] {
    if (arguments->box.empty() && arguments->select.empty() && arguments->load.empty())
      throw CLI::ValidationError("follow needs --box x,y,w,h, --select FILE or --load FILE");
    follow(*arguments);
  });
}

}  // namespace sdm::app
