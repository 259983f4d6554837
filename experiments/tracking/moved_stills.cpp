#include "experiments/tracking/moved_stills.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "experiments/photographs.h"
#include "sdm/base/error.h"
#include "sdm/base/random.h"
#include "sdm/face/aligner.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/markup.h"
#include "sdm/image/augment.h"
#include "sdm/image/warp.h"

#ifdef SDM_HAVE_OPENCV
#include "sdm/opencv/detector.h"
#include "sdm/opencv/image.h"
#endif

namespace sdm::experiments {
namespace {

namespace fs = std::filesystem;
using Homography = Eigen::Matrix3d;

enum Kind {
  shift_x,
  shift_y,
  scale,
  rotation,
  tilt,
  tilt_axis,
  gain,
  offset,
  light_x,
  light_y,
  kinds
};

face::Shape moved(const face::Shape& points, const Homography& motion) {
  face::Shape out(2, points.cols());
  for (Eigen::Index p = 0; p < points.cols(); ++p)
    out.col(p) = (motion * points.col(p).cast<double>().homogeneous()).hnormalized().cast<float>();
  return out;
}

Homography shifted(const Eigen::Vector2d& by) {
  Homography h = Homography::Identity();
  h.topRightCorner<2, 1>() = by;
  return h;
}

Homography turned(double angle) {
  Homography h = Homography::Identity();
  h.topLeftCorner<2, 2>() << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  return h;
}

// A plane turned out of the picture about an axis in it, seen from this far.
Homography tilted(double angle, double axis, double distance) {
  Homography h = Homography::Identity();
  h(0, 0) = std::cos(angle);
  h(2, 0) = std::sin(angle) / distance;
  return turned(axis) * h * turned(-axis);
}

#ifdef SDM_HAVE_OPENCV
std::vector<Still> labelled_stills(const fs::path& path, int count) {
  const face::Annotations faces = face::read_annotations(path);
  const std::size_t all = faces.faces.size();
  const std::size_t wanted = count > 0 ? std::min(all, std::size_t(count)) : all;
  std::vector<Still> stills;
  for (std::size_t i = 0; i < wanted; ++i) {
    const face::Annotation& one = faces.faces[i * all / wanted];
    stills.push_back({one.file, opencv::read_grey(faces.path(one)), one.points});
  }
  return stills;
}

std::vector<Still> installed_stills(const ExperimentContext& context) {
  std::vector<Still> stills;
  const face::Model model = face::Model::load(context.shipped_file("face68.sdm"));
  face::Aligner aligner(model);
  for (const fs::path& path : installed_portraits()) {
    image::Image<std::uint8_t> picture = opencv::read_grey(path);
    const auto boxes = opencv::make_detector("haar_alt2")(picture);
    if (boxes.empty()) continue;
    const face::Shape points =
        aligner.align(picture, boxes.front(), model.convention("haar_alt2")).points;
    stills.push_back({path.filename().string(), std::move(picture), points});
  }
  return stills;
}
#endif

}  // namespace

std::vector<Still> load_stills(const ExperimentContext& context, int count, std::string& source) {
#ifdef SDM_HAVE_OPENCV
  fs::path labelled;
  try {
    labelled = find_data(context, "faces/dev.csv");
  } catch (const Error&) {
    if (!context.data.empty()) throw;
  }
  if (!labelled.empty()) {
    source = "labelled faces of " + labelled.filename().string();
    return labelled_stills(labelled, count);
  }
  std::vector<Still> stills = installed_stills(context);
  if (stills.empty())
    throw NoData(
        "no labelled faces: name them with --data DIR, or install Debian's opencv-data and "
        "python-matplotlib-data or python3-skimage for a photograph");
  source = "installed photographs, the shipped model's points standing in for the truth";
  return stills;
#else
  (void)context, (void)count, (void)source;
  throw NoData("stills are pictures, and this program was built without OpenCV");
#endif
}

MovedStill::MovedStill(const Still& still, const MovedStillOptions& options)
    : still_(still), options_(options) {
  if (still.points.cols() < 2 || !still.points.allFinite())
    throw Error(fmt::format("{}: {} points, expected at least 2, all known", still.name,
                            still.points.cols()));
  const Eigen::Vector2f low = still.points.rowwise().minCoeff(),
                        high = still.points.rowwise().maxCoeff();
  centre_ = (0.5F * (low + high)).cast<double>();
  const auto [right, left] = face::ibug(68).unit;
  unit_ = still.points.cols() == 68
              ? double((still.points.col(right) - still.points.col(left)).norm())
              : 0.6 * double((high - low).maxCoeff());
  Random random(options.seed, "camera motion");
  for (int k = 0; k < kinds; ++k) {
    const double sign = random.sign();
    rates_.push_back(sign * 2 * std::numbers::pi /
                     random.uniform(18, 45));  // of a period in frames
    shares_.push_back(random.uniform(0.5, 1));
  }
}

double MovedStill::wave(int kind, double t) const {
  const auto k = static_cast<std::size_t>(kind);
  return shares_[k] * std::sin(rates_[k] * t) + (1 - shares_[k]) * std::sin(2.3 * rates_[k] * t);
}

Homography MovedStill::motion(double t) const {
  const Eigen::Vector2d by =
      options_.shift * unit_ * Eigen::Vector2d(wave(shift_x, t), wave(shift_y, t));
  Homography zoom = Homography::Identity();
  zoom(2, 2) = std::exp(-options_.scale * wave(scale, t));
  // The camera is eight eye distances away.
  const Homography about =
      turned(options_.rotation * wave(rotation, t)) *
      tilted(options_.tilt * wave(tilt, t), std::numbers::pi * wave(tilt_axis, t), 8 * unit_) *
      zoom;
  return shifted(centre_ + by) * about * shifted(-centre_);
}

MovedFrame MovedStill::frame(int number) const {
  const double t = number;
  const Homography here = motion(t);
  const int width = still_.picture.width(), height = still_.picture.height();
  image::Image<float> seen(width, height);
  image::warp_projective(still_.picture.view(), here.inverse(), seen.view());
  const Eigen::Vector2d way = (motion(t + 0.5) * centre_.homogeneous()).hnormalized() -
                              (motion(t - 0.5) * centre_.homogeneous()).hnormalized();
  const double blur = std::min(options_.blur, way.norm() / 2);
  if (blur > 1) image::motion_blur(seen, float(blur), float(std::atan2(way.y(), way.x())), seen);

  const double strength = std::exp(options_.gain * wave(gain, t));
  const double slope_x = options_.side_light * wave(light_x, t) / unit_,
               slope_y = options_.side_light * wave(light_y, t) / unit_;
  MovedFrame frame{image::Image<std::uint8_t>(width, height), moved(still_.points, here)};
  const auto lit = [&](int x, int y) {
    // The light falls off over the face and goes on evenly beyond it.
    const double side =
        std::clamp(1 + slope_x * (x - centre_.x()) + slope_y * (y - centre_.y()), 0.4, 1.6);
    return float(strength * side);
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      seen(x, y) = seen(x, y) * lit(x, y) + float(options_.offset * wave(offset, t));
  image::add_noise(seen, float(options_.noise), options_.seed, std::uint64_t(number));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      frame.picture(x, y) = static_cast<std::uint8_t>(std::clamp(seen(x, y), 0.F, 255.F) + 0.5F);
  return frame;
}

}  // namespace sdm::experiments
