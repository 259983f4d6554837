#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/sdm/commands.h"
#include "apps/sdm/faces.h"
#include "apps/sdm/numbers.h"
#include "apps/sdm/output.h"
#include "apps/sdm/pose_json.h"
#include "apps/sdm/shipped_model.h"
#include "apps/sdm/tell.h"
#include "apps/sdm/video_loop.h"
#include "report/plot.h"
#include "report/results.h"
#include "sdm/base/error.h"
#include "sdm/face/tracker.h"
#include "sdm/opencv/draw.h"
#include "sdm/opencv/image.h"

namespace sdm::app {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

struct TrackArguments {
  VideoFiles files;
  std::string model, detector, plot;
  face::TrackerOptions tracker;
  std::vector<float> box, offset;
  bool no_smooth = false, free = false;
  std::optional<float> min_size;  // pixels
  int frames = 0;                 // 0: all
};

Json to_json(const face::TrackedFace& face) {
  Json points = Json::array();
  for (const auto& p : face.points.colwise())
    points.push_back({rounded(double(p.x())), rounded(double(p.y()))});
  Json json{{"id", face.id}, {"detected", face.detected}, {"score", rounded(double(face.score))}};
  if (face.pose) json["pose"] = pose_json(*face.pose);
  json["points"] = std::move(points);
  if (face.visible.size() > 0) json["visible"] = rounded(face.visible);
  return json;
}

Json to_json(const VideoLoop& loop, const face::TrackedFrame& found) {
  Json faces = Json::array();
  for (const face::TrackedFace& face : found.faces) faces.push_back(to_json(face));
  return {{"frame", loop.number()},
          {"time", rounded(loop.seconds())},
          {"faces", std::move(faces)},
          {"lost", found.lost},
          {"searched", found.searched}};
}

void draw(cv::Mat& picture, const face::TrackedFrame& found) {
  for (const face::TrackedFace& face : found.faces) {
    const Eigen::Vector2f low = face.points.rowwise().minCoeff(),
                          high = face.points.rowwise().maxCoeff();
    const double size = double(high.x() - low.x()) / 110;
    opencv::draw_points(picture, face.points,
                        face.detected ? cv::Scalar(0, 200, 255) : cv::Scalar(60, 255, 60), size,
                        face.visible);
    std::string label = fmt::format("{}  {:.2f}", face.id, face.score);
    if (face.pose) {
      opencv::draw_axes(picture, *face.pose);
      label += fmt::format("  {:+.0f} {:+.0f} {:+.0f}", face.pose->yaw, face.pose->pitch,
                           face.pose->roll);
    }
    opencv::draw_text(picture, label, {int(low.x()), int(low.y()) - 6});
  }
}

// What became of each face over the video, for the plot and the summary.
class History {
 public:
  History(bool keeps, double threshold) : keeps_(keeps), threshold_(threshold) {}

  void add(double seconds, const face::TrackedFrame& found) {
    end_ = seconds;
    empty += found.faces.empty() ? 1 : 0;
    searches += found.searched ? 1 : 0;
    lost += int(found.lost.size());
    for (const face::TrackedFace& face : found.faces) {
      detections += face.detected ? 1 : 0;
      ids.insert(face.id);
      if (keeps_) keep(seconds, face);
    }
  }

  std::string svg() const {
    report::LineChart score{"Score", "seconds", "probability of a good fit"},
        pose{"Head pose", "seconds", "degrees"},
        off{"Landmarks off the rigid head", "seconds", "percent of its size"};
    score.series.push_back({"lost below", {0, end_}, {threshold_, threshold_}});
    for (const auto& one : curves_) {
      const auto add = [&](report::LineChart& chart, const char* name, std::size_t which) {
        chart.series.push_back(
            {fmt::format("{} {}", name, one.first), one.second.time, one.second.values[which]});
      };
      add(score, "face", 0);
      add(pose, "yaw", 1);
      add(pose, "pitch", 2);
      add(pose, "roll", 3);
      add(off, "face", 4);
    }
    std::vector<report::Chart> charts;
    for (report::LineChart* chart : {&score, &pose, &off}) {
      chart->markers = false;
      charts.emplace_back(*chart);
    }
    return report::svg(charts, 1);
  }

  std::set<int> ids;
  int detections = 0, lost = 0, empty = 0, searches = 0;

 private:
  struct Curves {
    std::vector<double> time, values[5];
  };

  void keep(double seconds, const face::TrackedFace& face) {
    constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
    Curves& curves = curves_[face.id];
    const auto put = [&](double time, const std::array<double, 5>& values) {
      curves.time.push_back(time);
      for (std::size_t i = 0; i < values.size(); ++i) curves.values[i].push_back(values[i]);
    };
    // The line breaks where the face was not there.
    if (face.detected && !curves.time.empty()) put(seconds, {kGap, kGap, kGap, kGap, kGap});
    if (face.pose)
      put(seconds, {double(face.score), face.pose->yaw, face.pose->pitch, face.pose->roll,
                    100 * face.pose->reprojection_error / face.pose->scale});
    else
      put(seconds, {double(face.score), kGap, kGap, kGap, kGap});
  }

  bool keeps_;
  double threshold_, end_ = 0;
  std::map<int, Curves> curves_;
};

std::string count(int number, const char* one, const char* many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

face::Tracker tracker_of(const TrackArguments& arguments, const face::Model& model,
                         const face::TrackerOptions& options, const FaceFinder& finder) {
  if (!arguments.box.empty()) {
    const face::Box box{arguments.box[0], arguments.box[1], arguments.box[2], arguments.box[3]};
    if (!(box.width > 0 && box.height > 0))
      throw Error(fmt::format("the box is {:g} x {:g} px, expected a positive width and height",
                              box.width, box.height));
    return {model, [box](image::ByteView) { return std::vector{box}; }, options};
  }
  if (finder.is_ours()) return {model, finder.detector(), options};
  // The tracker reads boxes as the model's own: it may know nothing of the detector.
  return {model, finder.boxes_as(model.convention()), options};
}

void track(const TrackArguments& arguments) {
  const face::Model model = load_face_model(arguments.model, arguments.free);
  face::TrackerOptions options = arguments.tracker;
  options.smooth = !arguments.no_smooth;
  DetectorChoice choice{arguments.detector, arguments.offset, {}, {}};
  choice.options.smallest = arguments.min_size;
  // What scores enough to be followed is for the tracker to say.
  choice.options.min_score = std::min(options.threshold, 0.5F);
  const FaceFinder finder(model, choice);
  face::Tracker tracker = tracker_of(arguments, model, options, finder);
  prepare_outputs(arguments.files)
      .reads(model_file(arguments.model))
      .may_read(arguments.detector)
      .writes(arguments.plot);

  VideoLoop loop("track", arguments.files);
  History history(!arguments.plot.empty(), double(options.threshold));
  double searching = 0, following = 0;
  const auto begin = Clock::now();
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const auto is_over = [&] {
    return arguments.frames > 0 && loop.number() + 1 >= arguments.frames;
  };
  const auto finish_plot = [&] {
    if (!arguments.plot.empty()) report::write_text(arguments.plot, history.svg());
  };
  try {
    while (!is_over() && loop.next()) {
      const auto start = Clock::now();
      const face::TrackedFrame& found = tracker.update(opencv::view(loop.grey()), loop.seconds());
      (found.searched ? searching : following) += since(start);
      history.add(loop.seconds(), found);
      if (loop.draws()) draw(loop.picture(), found);
      loop.write(to_json(loop, found),
                 fmt::format("{:.0f} frames a second", (loop.number() + 1) / since(begin)));
    }
  } catch (...) {
    finish_plot();
    throw;
  }
  const double seconds = since(begin);
  finish_plot();
  const int frames = loop.finish(!is_over());
  const int followed = frames - history.searches;
  say_beside(arguments.files.json == "-",
             "{}: {}, {}, {} lost; {} without a face\n"
             "{:.0f} frames a second with reading and writing; following {:.0f} us a frame{}\n",
             count(frames, "frame", "frames"), count(int(history.ids.size()), "face", "faces"),
             count(history.detections, "detection", "detections"), history.lost,
             count(history.empty, "frame", "frames"), frames / seconds,
             followed > 0 ? 1e6 * following / followed : 0,
             history.searches > 0
                 ? fmt::format(", looking for faces {:.1f} ms in {} of them",
                               1e3 * searching / history.searches, history.searches)
                 : "");
}

}  // namespace

void add_track(CLI::App& app) {
  CLI::App* command = app.add_subcommand("track", "Follow the faces of a video");
  auto a = std::make_shared<TrackArguments>();
  command
      ->add_option("VIDEO", a->files.input,
                   "A video file, a folder of pictures, a pattern such as frames/%04d.png, the "
                   "number of a camera (0), an address (rtsp://, http://), or - for stdin")
      ->required();
  command->add_option("-o,--output", a->files.overlay,
                      "Write the video with points, id, score, yaw, pitch and roll, .mp4");
  command->add_option("--json", a->files.json, "Write a line of JSON for each frame; -: to stdout");
  command->add_option("--plot", a->plot, "Draw score and head pose over time, .svg");
  command->add_option("-m,--model", a->model,
                      "A face model or the name of a shipped one (sdm models); default: face68");
  command->add_flag("--free", a->free,
                    "Only models whose licence is free (sdm models), and their detector");
  command->add_option("--faces", a->tracker.faces, "Follow at most so many faces")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--frames", a->frames, "Stop after so many frames; 0: at the end")
      ->check(kNotNegative)
      ->capture_default_str();
  command->add_option("--threshold", a->tracker.threshold, "A face that scores less is lost")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command
      ->add_option("--search-every", a->tracker.search_every,
                   "Look for further faces in every so many frames")
      ->check(kPositive)
      ->capture_default_str();
  command->add_option("--detector", a->detector, kDetectorHelp);
  command->add_option("--detector-offset", a->offset, kOffsetHelp)
      ->expected(3)
      ->type_name("SCALE DX DY");
  command
      ->add_option(
          "--min-size", a->min_size,
          "Smallest face to look for, pixels; default: 40, and down to 20 in frames under 640 px")
      ->check(kPositive);
  command
      ->add_option(
          "--box", a->box,
          "Look here alone, x,y,width,height in pixels, in place of a detector: for models "
          "of other things than faces")
      ->expected(4)
      ->delimiter(',');
  command->add_flag("--no-smooth", a->no_smooth, "Give the points as they are found");
  command->footer(
      "Example:\n  sdm track clip.mp4 --faces 3 -o out.mp4 --json out.jsonl --plot out.svg");
  command->callback([a] { track(*a); });
}

}  // namespace sdm::app
