#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/sdm/commands.h"
#include "apps/sdm/numbers.h"
#include "apps/sdm/output.h"
#include "apps/sdm/tell.h"
#include "apps/sdm/video_loop.h"
#include "report/plot.h"
#include "report/results.h"
#include "sdm/base/error.h"
#include "sdm/base/text.h"
#include "sdm/io/file.h"
#include "sdm/opencv/draw.h"
#include "sdm/opencv/image.h"
#include "sdm/opencv/video.h"
#include "sdm/rigid/train/train_tracker.h"

namespace sdm::app {
namespace {

using Clock = std::chrono::steady_clock;

struct FollowArguments {
  VideoFiles files;
  std::string motion = "affine", select, load, save, plot;
  std::vector<std::string> boxes;
  bool paper = false, adapt = false;
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

/// What the arguments say: none, one or several.
std::vector<rigid::Quad> regions_of(const FollowArguments& arguments) {
  std::vector<rigid::Quad> regions;
  if (!arguments.select.empty())
    regions.push_back(rigid::quad_of_numbers(read_numbers(arguments.select)));
  for (const std::string& box : arguments.boxes) {
    try {
      regions.push_back(rigid::quad_of_numbers(to_numbers(box, ", \t")));
    } catch (const Error& error) {
      throw Error(fmt::format("--box {}: {}", box, error.what()));
    }
  }
  return regions;
}

/// A region that noise alone moves by more than this will not be followed well.
constexpr double kPlain = 1;  // px

/// The tracker that was saved, at its own place or at the region; or one for each region.
std::vector<rigid::Tracker> make_trackers(const FollowArguments& arguments,
                                          const std::vector<rigid::Quad>& regions,
                                          image::ByteView frame) {
  std::vector<rigid::Tracker> trackers;
  if (!arguments.load.empty()) {
    trackers.emplace_back(rigid::TrackerModel::load(arguments.load));
    if (!regions.empty()) trackers[0].restart(warp_to(trackers[0].model().shape, regions[0]));
  } else {
    rigid::TrainTrackerOptions options =
        arguments.paper ? rigid::TrainTrackerOptions::paper() : rigid::TrainTrackerOptions();
    options.motion = rigid::motion_from_string(arguments.motion);
    options.seed = arguments.seed;
    options.threads = arguments.threads;
    options.provenance = fmt::format("the first frame of {}", arguments.files.input);
    for (const rigid::Quad& region : regions) {
      rigid::TrackerTraining trained = rigid::train_tracker(frame, region, options);
      if (trained.uncertainty > kPlain)
        tell(
            "warning: the region at ({:g}, {:g}) is too plain to be followed well: noise of "
            "{:g} grey levels moves it by {:.1f} px the way it tells least{}\n",
            region(0, 0) + 0.5, region(1, 0) + 0.5, rigid::kPlainNoise, trained.uncertainty,
            arguments.motion == "translation" ? "" : "; a simpler --model may do");
      trackers.push_back(std::move(trained.tracker));
    }
    if (!arguments.save.empty()) trackers[0].model().save(arguments.save);
  }
  if (arguments.adapt)
    for (rigid::Tracker& tracker : trackers) tracker.adapt();
  return trackers;
}

/// Follows the first frames to see whether what is in the regions moves as flat things do. A camera
/// or a stream cannot be read twice; a frame that cannot be read is left to the loop to tell.
void warn_of_bent_regions(const FollowArguments& arguments, std::vector<rigid::Tracker> trackers) {
  const std::filesystem::path input(arguments.files.input);
  if (!std::filesystem::is_regular_file(input) && !std::filesystem::is_directory(input) &&
      arguments.files.input.find('%') == std::string::npos)
    return;
  constexpr int kAhead = 30;   // frames
  constexpr double kBent = 1;  // template units
  std::vector<std::vector<double>> bends(trackers.size());
  std::vector<rigid::Quad> places;
  for (const rigid::Tracker& tracker : trackers)
    places.push_back(tracker.model().shape.corners(tracker.warp()));
  try {
    opencv::VideoReader reader(arguments.files.input);
    cv::Mat grey;
    for (int i = 0; i < kAhead && reader.read_grey(grey); ++i)
      for (std::size_t k = 0; k < trackers.size(); ++k) {
        const rigid::Track track = trackers[k].update(opencv::view(grey));
        if (!track.lost) bends[k].push_back(trackers[k].bend(opencv::view(grey), track.warp));
      }
  } catch (const Error&) {
  }
  for (std::size_t k = 0; k < trackers.size(); ++k) {
    // What is not flat bends ever more as the camera goes on.
    const std::size_t last = bends[k].size() / 3;
    if (last == 0) continue;
    std::nth_element(bends[k].end() - std::ptrdiff_t(last),
                     bends[k].end() - std::ptrdiff_t(last / 2 + 1), bends[k].end());
    const double bend = bends[k][bends[k].size() - (last / 2 + 1)];
    if (bend > kBent)
      tell(
          "warning: the region at ({:g}, {:g}) does not move as a flat thing does: parts of "
          "it move by {:.1f} % of its size against the whole{}\n",
          places[k](0, 0) + 0.5, places[k](1, 0) + 0.5, bend,
          arguments.motion == "homography" ? "" : "; --model homography may do");
  }
}

nlohmann::ordered_json to_json(const rigid::Track& track) {
  const auto rounded = [](double v) { return std::round(v * 1000) / 1000; };
  auto corners = nlohmann::ordered_json::array();
  for (int i = 0; i < 4; ++i)
    corners.push_back({rounded(track.corners(0, i)), rounded(track.corners(1, i))});
  auto warp = nlohmann::ordered_json::array();
  for (int r = 0; r < 3; ++r)
    warp.push_back({track.warp(r, 0), track.warp(r, 1), track.warp(r, 2)});
  return {{"corners", std::move(corners)},
          {"warp", std::move(warp)},
          {"difference", rounded(track.difference)},
          {"score", rounded(track.score)},
          {"lost", track.lost}};
}

/// What a frame gave: flat for one template, a list for several.
nlohmann::ordered_json line_of(int frame, const std::vector<rigid::Track>& tracks) {
  nlohmann::ordered_json line{{"frame", frame}};
  if (tracks.size() == 1) {
    line.update(to_json(tracks[0]));
  } else {
    auto& list = line["templates"] = nlohmann::ordered_json::array();
    for (const rigid::Track& track : tracks) list.push_back(to_json(track));
  }
  return line;
}

/// What became of each template over the video, for the plot and the summary.
class FollowHistory {
 public:
  explicit FollowHistory(std::size_t templates) : curves_(templates) {}

  void add(int frame, const std::vector<rigid::Track>& tracks, double microseconds) {
    constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      Curves& curves = curves_[i];
      const rigid::Track& track = tracks[i];
      if (track.lost && curves.lost++ == 0) curves.first_lost = frame;
      curves.score.push_back(track.score);
      curves.difference.push_back(track.difference);
      const bool moved = frame > 0 && !track.lost && curves.seen;
      curves.speed.push_back(moved ? (track.corners - curves.corners).colwise().norm().maxCoeff()
                                   : kGap);
      curves.seen = !track.lost;
      curves.corners = track.corners;
    }
    frames_.push_back(frame);
    times_.push_back(microseconds);
  }

  std::string svg() const {
    report::LineChart score{"Score", "frame", "probability that the corners are right"},
        difference{"Difference in HoG space", "frame", "of the template's norm"},
        speed{"Speed of the fastest corner", "frame", "px a frame"}, time{"Time", "frame", "us"};
    const auto add = [&](report::LineChart& chart, std::size_t i, const std::vector<double>& y) {
      chart.series.push_back({fmt::format("template {}", i), frames_, y});
    };
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      add(score, i, curves_[i].score);
      add(difference, i, curves_[i].difference);
      add(speed, i, curves_[i].speed);
    }
    time.series.push_back({"all templates", frames_, times_});
    std::vector<report::Chart> charts;
    for (report::LineChart* chart : {&score, &difference, &speed, &time}) {
      chart->markers = false;
      charts.emplace_back(*chart);
    }
    return report::svg(charts, 1);
  }

  /// "3 lost (the first is 17)" for one template, and for each of several.
  std::string summary() const {
    const bool several = curves_.size() > 1;
    std::string text;
    int number = 0;
    for (const Curves& curves : curves_) {
      if (number > 0) text += "; ";
      if (several) text += fmt::format("template {}: ", number);
      text += fmt::format("{} lost", curves.lost);
      if (curves.lost > 0) text += fmt::format(" (the first is {})", curves.first_lost);
      ++number;
    }
    return text;
  }

 private:
  struct Curves {
    std::vector<double> score, difference, speed;
    rigid::Quad corners = rigid::Quad::Zero();
    bool seen = false;
    int lost = 0, first_lost = -1;
  };
  std::vector<Curves> curves_;
  std::vector<double> frames_, times_;
};

void follow(const FollowArguments& arguments) {
  const std::vector<rigid::Quad> regions = regions_of(arguments);
  prepare_outputs(arguments.files)
      .reads(std::vector<fs::path>{arguments.select, arguments.load})
      .writes(arguments.save, Outputs::Kind::whole)
      .writes(arguments.plot);
  VideoLoop loop("follow", arguments.files);
  std::vector<rigid::Tracker> trackers;
  FollowHistory history(std::max<std::size_t>(regions.size(), 1));
  double learned = 0, seconds = 0;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const auto finish_plot = [&] {
    if (!arguments.plot.empty()) report::write_text(arguments.plot, history.svg());
  };
  try {
    while (loop.next()) {
      const image::ByteView frame = opencv::view(loop.grey());
      auto start = Clock::now();
      if (trackers.empty()) {
        trackers = make_trackers(arguments, regions, frame);
        if (!arguments.paper && arguments.load.empty()) warn_of_bent_regions(arguments, trackers);
        learned = since(start);
        start = Clock::now();
      }
      std::vector<rigid::Track> tracks;
      for (rigid::Tracker& tracker : trackers) tracks.push_back(tracker.update(frame));
      const double spent = since(start);
      seconds += spent;
      history.add(loop.number(), tracks, 1e6 * spent);
      if (loop.draws()) {
        std::string caption = fmt::format("{} ", loop.number());
        for (const rigid::Track& track : tracks) {
          opencv::draw_quad(loop.picture(), track.corners,
                            track.lost ? cv::Scalar(60, 60, 255) : cv::Scalar(60, 255, 60));
          caption += std::isnan(track.score) ? fmt::format(" {:.0f} %", 100 * track.difference)
                                             : fmt::format(" {:.2f}", track.score);
          if (track.lost) caption += " lost";
        }
        opencv::draw_caption(loop.picture(), caption);
      }
      loop.write(line_of(loop.number(), tracks),
                 fmt::format("{:.0f} frames a second", (loop.number() + 1) / seconds));
    }
  } catch (...) {
    if (!trackers.empty()) finish_plot();
    throw;
  }
  finish_plot();
  const int frames = loop.finish();
  say_beside(arguments.files.json == "-", "{} frames, {}; {} in {:.2f} s, {:.0f} us a frame\n",
             frames, history.summary(), arguments.load.empty() ? "learned" : "loaded", learned,
             1e6 * seconds / frames);
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
                  ->add_option("--box", arguments->boxes,
                               "What to follow in the first frame: x,y,width,height in pixels, or "
                               "x,y of four corners; again for another template")
                  ->take_all()
                  ->allow_extra_args(false);
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
                                  "As the paper does: 300 clean samples, the maps run once, lost "
                                  "above 30 % difference in HoG space");
  auto* adapt = command->add_flag(
      "--adapt", arguments->adapt,
      "Let the templates follow a slow change of appearance while the score is high");
  paper->excludes(adapt);
  auto* save = command->add_option("--save", arguments->save, "Keep the tracker as a model file");
  load->excludes(motion)->excludes(paper)->excludes(save);
  command->add_option("-o,--output", arguments->files.overlay,
                      "Write the video with the outline, .mp4");
  command->add_option("--json", arguments->files.json,
                      "Write a line of JSON for each frame; - is stdout");
  command->add_option("--plot", arguments->plot, "Draw score and speed over time, .svg");
  command->add_option("--seed", arguments->seed, "Seed of the training samples")
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "Threads; 0 takes all cores")
      ->check(kNotNegative)
      ->capture_default_str();
  command->footer(
      "Example:\n  sdm follow clip.mp4 --box 210,120,100,100 -o out.mp4 --json out.jsonl");
  command->callback([arguments] {
    if (arguments->boxes.empty() && arguments->select.empty() && arguments->load.empty())
      throw CLI::ValidationError("follow needs --box x,y,w,h, --select FILE or --load FILE");
    if (arguments->boxes.size() > 1 && !(arguments->load.empty() && arguments->save.empty()))
      throw CLI::ValidationError("--load and --save take one --box");
    follow(*arguments);
  });
}

}  // namespace sdm::app
