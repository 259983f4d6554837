#include "experiments/rigid/video.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include "experiments/rigid/race.h"
#include "sdm/base/error.h"

#ifdef SDM_HAVE_OPENCV
#include <opencv2/imgproc.hpp>

#include "experiments/rigid/cube.h"
#include "report/statistics.h"
#include "sdm/opencv/draw.h"
#include "sdm/opencv/image.h"
#include "sdm/opencv/video.h"
#include "sdm/rigid/train/train_tracker.h"
#endif

namespace sdm::experiments {

#ifdef SDM_HAVE_OPENCV
namespace {

constexpr int kQuickVideoFrames = 60;

using rigid::Quad;
using rigid::Warp;

struct Video {
  std::string name, path;
  rigid::Motion motion = rigid::Motion::homography;
  Quad region = Quad::Zero();
  /// About where four bright dots on the plane lie in the first frame. They tell the truth in every
  /// frame; the region is the quadrilateral through them, stretched about its middle.
  std::optional<Quad> dots = {};
  double stretch = 1;
  int skip = 0;  // frames left out at the beginning
  /// The face of ViSP's cube that is followed; its outline tells the truth.
  std::optional<int> face = {};
};

const std::filesystem::path kVispFolder = "/usr/share/visp-images-data/ViSP-images";

std::vector<Video> installed_videos() {
  if (!std::filesystem::exists(kVispFolder)) return {};
  Video target, poster;
  target.name = "mire-2";  // a box with five dots, turned by a hand
  target.path = (kVispFolder / "mire-2/image.%04d.pgm").string();
  target.dots.emplace() << 95, 219, 248, 108, 154, 141, 214, 232;
  target.stretch = 1.3;
  target.skip = 9;         // blurred; a blurred template says little
  poster.name = "poster";  // a sheet of comics under a moving camera
  poster.path = (kVispFolder / "cube/image.%04d.pgm").string();
  poster.region = rigid::quad_of_box(285, 50, 90, 80);
  std::vector<Video> videos = {target, poster};
  for (const int face : CubePose(kVispFolder / "mbt").visible_faces()) {
    Video cube;
    cube.name = fmt::format("cube_face_{}", face);
    cube.path = (kVispFolder / "mbt/cube/image%04d.pgm").string();
    cube.face = face;
    videos.push_back(cube);
  }
  return videos;
}

/// What the tracker says by itself, with its score and its search, beside the truth.
struct OwnWord {
  std::vector<double> kept, lost;  // true errors, px
};

/// Moves each mark to the middle of the bright spot next to it; large bright areas are no spots.
void find_dots(const cv::Mat& grey, Quad& dots) {
  constexpr int kLeast = 20, kMost = 600;  // px
  cv::Mat labels, stats, middles;
  const int count = cv::connectedComponentsWithStats(grey >= 180, labels, stats, middles, 4);
  for (int i = 0; i < 4; ++i) {
    const Eigen::Vector2d before = dots.col(i);
    double nearest = std::numeric_limits<double>::infinity();
    for (int k = 1; k < count; ++k) {
      const int area = stats.at<int>(k, cv::CC_STAT_AREA);
      const Eigen::Vector2d middle(middles.at<double>(k, 0), middles.at<double>(k, 1));
      if (area < kLeast || area > kMost || !((middle - before).norm() < nearest)) continue;
      nearest = (middle - before).norm();
      dots.col(i) = middle;
    }
  }
}

cv::Scalar colour_of(const std::string& method) {
  if (method == "sdm") return {80, 220, 60};
  if (method == "sdm_paper") return {60, 160, 240};
  return method == "ecc" ? cv::Scalar(240, 120, 220) : cv::Scalar(240, 180, 60);
}

/// Every method's outline as long as it holds on.
cv::Mat draw(const cv::Mat& grey, const Race& race) {
  cv::Mat picture;
  cv::cvtColor(grey, picture, cv::COLOR_GRAY2BGR);
  for (auto runner = race.runners().rbegin(); runner != race.runners().rend(); ++runner)
    if (!runner->lost)
      opencv::draw_quad(picture, race.shape().corners(runner->warp), colour_of(runner->method));
  return picture;
}

/// Where the template is in a frame, as far as anybody knows.
class Truth {
 public:
  /// Sets the region of a video whose first frame tells it.
  Truth(Video& video, const cv::Mat& first) {
    const rigid::TemplateShape square;
    if (video.dots) {
      dots_ = *video.dots;
      find_dots(first, *dots_);
      const Warp dots = warp_to(square, *dots_);
      Warp larger = Warp::Identity();
      larger.topLeftCorner<2, 2>() *= video.stretch;
      video.region = square.corners(rigid::compose(dots, larger));
      in_plane_ = rigid::compose(rigid::inverse(dots),
                                 warp_to(rigid::shape_of(video.region), video.region));
    } else if (video.face) {
      face_ = *video.face;
      cube_.emplace(kVispFolder / "mbt");
      cube_->update(first);
      video.region = cube_->region(face_);
    }
    shape_ = rigid::shape_of(video.region);
  }

  bool known() const { return dots_ || cube_; }
  std::optional<Warp> operator()(const cv::Mat& grey) {
    if (dots_) {
      find_dots(grey, *dots_);
      return rigid::compose(warp_to(rigid::TemplateShape(), *dots_), in_plane_);
    }
    if (!cube_ || !cube_->update(grey)) return std::nullopt;
    return warp_to(shape_, cube_->region(face_));
  }
  /// What is seen from too far off is not followed any more.
  bool visible() const { return !cube_ || cube_->visible(face_); }

 private:
  std::optional<Quad> dots_;
  std::optional<CubePose> cube_;
  int face_ = 0;
  rigid::TemplateShape shape_;
  Warp in_plane_ = Warp::Identity();
};

void run_video(Video video, const ExperimentContext& context, Results& results, Table& table,
               Table& words, Gallery& gallery) {
  opencv::VideoReader reader(video.path);
  cv::Mat grey;
  for (int i = 0; i <= video.skip; ++i)
    if (!reader.read_grey(grey)) throw Error(fmt::format("{}: too short", video.path));
  Truth truth_of(video, grey);
  Race race(opencv::view(grey), video.region,
            {.motion = video.motion, .seed = context.seed, .threads = context.threads});
  rigid::TrainTrackerOptions options;
  options.motion = video.motion;
  options.seed = context.seed;
  options.threads = context.threads;
  rigid::Tracker tracker = rigid::train_tracker(opencv::view(grey), video.region, options).tracker;
  OwnWord word;
  int frames = 0, unknown = 0;
  while (reader.read_grey(grey) && !(context.quick && frames == kQuickVideoFrames)) {
    const std::optional<Warp> truth = truth_of(grey);
    if (!truth_of.visible()) break;
    ++frames;
    race.show(opencv::view(grey), truth ? &*truth : nullptr);
    const rigid::Track track = tracker.update(opencv::view(grey));
    if (truth)
      (track.lost ? word.lost : word.kept)
          .push_back((track.corners - race.shape().corners(*truth)).colwise().norm().mean());
    else
      ++unknown;
    if (frames % std::max(30, reader.frames() / 5) == 1) {
      Picture picture{fmt::format("{}_{}.jpg", video.name, frames),
                      fmt::format("{}, frame {}", video.name, frames)};
      opencv::write_image(context.output / "rigid" / picture.file, draw(grey, race));
      gallery.pictures.push_back(std::move(picture));
    }
  }
  race.add_rows(video.name, frames, results);
  table.lines.push_back({fmt::format("{}, {} frames", video.name, frames)});
  for (const Runner& runner : race.runners()) {
    const Results::Row* error = results.find(video.name, runner.method, "mean_corner_error");
    table.lines.back().push_back(error == nullptr
                                     ? std::to_string(runner.tracked)
                                     : fmt::format("{}, {:.2f} px", runner.tracked, error->value));
  }
  if (!truth_of.known()) return;
  const auto told = [](const std::vector<double>& errors) {
    if (errors.empty()) return std::string("none");
    return fmt::format("{}: {:.2f} px in the median, {:.1f} at most", errors.size(),
                       finite_median(errors), *std::max_element(errors.begin(), errors.end()));
  };
  words.lines.push_back({video.name, told(word.kept), told(word.lost), std::to_string(unknown)});
  results.add(video.name, "sdm", "told_lost", double(word.lost.size()), "frames");
  if (!word.lost.empty())
    results.add(video.name, "sdm", "told_lost_median_corner_error", finite_median(word.lost), "px");
  if (!word.kept.empty())
    results.add(video.name, "sdm", "kept_median_corner_error", finite_median(word.kept), "px");
}

}  // namespace
#endif

void run_videos(const ExperimentContext& context, Results& results) {
#ifdef SDM_HAVE_OPENCV
  std::vector<Video> videos = installed_videos();
  if (!context.video.empty()) {
    Video given;
    const std::filesystem::path path(context.video);
    const bool pattern = path.filename().string().find('%') != std::string::npos;
    given.name = (pattern ? path.parent_path().filename() : path.stem()).string();
    if (given.name.empty()) given.name = "video";
    given.path = context.video;
    given.region = rigid::quad_of_numbers(context.box);
    videos = {given};
  }
  if (videos.empty()) {
    context.say("no real video: Debian's package visp-images-data is not installed");
    return;
  }
  Table table{{{"frames tracked"}}};
  table.lines[0].insert(table.lines[0].end(), follower_names().begin(), follower_names().end());
  Table words{{{"SDM by its own score", "kept frames, true error", "lost frames, true error",
                "truth not known"}}};
  Gallery gallery;
  for (const Video& video : videos) run_video(video, context, results, table, words, gallery);
  context.say(format_table(table.lines));
  if (words.lines.size() > 1) context.say(format_table(words.lines));
  results.exhibits.push_back(
      {"videos", "Real videos", "",
       "mire-2: a box with dots, turned by a hand, from its tenth frame on; the dots' middles are "
       "the truth. cube_face: faces of a printed cube as long as they are seen from no more than "
       "65 "
       "degrees off; the package knows the pose of the first frame only, so the truth is the pose "
       "that fits the cube's outline (to about a pixel). Others: nobody knows the truth, the HoG "
       "alone tells how long a method held on. Homographies; not used for choosing settings.",
       table});
  if (words.lines.size() > 1)
    results.exhibits.push_back(
        {"video_score", "Real videos: what the score says", "",
         "The tracker by itself: its score tells which frames are lost, and a lost template is "
         "looked for in the whole frame.",
         words});
  results.exhibits.push_back({"video_frames", "Real videos: outlines", "",
                              "Green: SDM; orange: the paper's SDM; blue: Lucas-Kanade; pink: ECC. "
                              "A method that is lost is "
                              "not drawn.",
                              gallery});
#else
  context.say("no real video: built without OpenCV");
  (void)results;
#endif
}

}  // namespace sdm::experiments
