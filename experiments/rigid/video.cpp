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

#include "sdm/opencv/draw.h"
#include "sdm/opencv/image.h"
#include "sdm/opencv/video.h"
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
};

std::vector<Video> installed_videos() {
  const std::string folder = "/usr/share/visp-images-data/ViSP-images/";
  if (!std::filesystem::exists(folder)) return {};
  Video target, poster;
  target.name = "mire-2";  // a box with five dots, turned by a hand
  target.path = folder + "mire-2/image.%04d.pgm";
  target.dots.emplace() << 95, 219, 248, 108, 154, 141, 214, 232;
  target.stretch = 1.3;
  target.skip = 9;         // blurred; a blurred template says little
  poster.name = "poster";  // a sheet of comics under a moving camera
  poster.path = folder + "cube/image.%04d.pgm";
  poster.region = rigid::quad_of_box(285, 50, 90, 80);
  return {target, poster};
}

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

void run_video(Video video, const ExperimentContext& context, Results& results, Table& table,
               Gallery& gallery) {
  opencv::VideoReader reader(video.path);
  cv::Mat grey;
  for (int i = 0; i <= video.skip; ++i)
    if (!reader.read_grey(grey)) throw Error(fmt::format("{}: too short", video.path));
  const rigid::TemplateShape square;
  Warp to_plane = Warp::Identity();
  if (video.dots) {
    find_dots(grey, *video.dots);
    const Warp dots = warp_to(square, *video.dots);
    Warp larger = Warp::Identity();
    larger.topLeftCorner<2, 2>() *= video.stretch;
    video.region = square.corners(rigid::compose(dots, larger));
    to_plane = rigid::inverse(dots);
  }
  const rigid::TemplateShape shape = rigid::shape_of(video.region);
  const Warp in_plane = rigid::compose(to_plane, warp_to(shape, video.region));

  Race race(opencv::view(grey), video.region,
            {.motion = video.motion, .seed = context.seed, .threads = context.threads});
  int frames = 0;
  while (reader.read_grey(grey) && !(context.quick && frames == kQuickVideoFrames)) {
    ++frames;
    if (video.dots) {
      find_dots(grey, *video.dots);
      const Warp truth = rigid::compose(warp_to(square, *video.dots), in_plane);
      race.show(opencv::view(grey), &truth);
    } else {
      race.show(opencv::view(grey), nullptr);
    }
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
  Gallery gallery;
  for (const Video& video : videos) run_video(video, context, results, table, gallery);
  context.say(format_table(table.lines));
  results.exhibits.push_back(
      {"videos", "Real videos", "",
       "mire-2: a box with dots, turned by a hand, from its tenth frame on; the dots' middles are "
       "the "
       "truth. Others: nobody knows the truth, the HoG alone tells how long a method held on. "
       "Homographies; not used for choosing settings.",
       table});
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
