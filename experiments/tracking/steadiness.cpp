#include "experiments/tracking/steadiness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numbers>
#include <opencv2/imgcodecs.hpp>

#include "experiments/face_dlib.h"
#include "report/statistics.h"
#include "sdm/base/random.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/tracker.h"
#include "sdm/image/augment.h"
#include "sdm/image/warp.h"
#include "sdm/opencv/image.h"

namespace sdm::experiments {
namespace {

constexpr double kRate = 25;       // frames a second
constexpr double kShake = 0.1;     // px, the deviation of each coordinate
constexpr float kSensorNoise = 4;  // grey levels
constexpr int kJpegQuality = 80;
constexpr int kSettled = 15;  // the first frame that counts
constexpr int kLagFrames = 12;

double unit_of(const face::Shape& points) {
  const auto [right, left] = face::ibug(68).unit;
  return double((points.col(right) - points.col(left)).norm());
}

Eigen::Vector2d direction_of(std::uint64_t seed) {
  const double angle = Random(seed, "direction").uniform(0, 2 * std::numbers::pi);
  return {std::cos(angle), std::sin(angle)};
}

struct Course {
  std::string name;
  Path path;
};

/// What one model, or dlib, made of every face on every course.
struct Steadiness {
  std::string name;
  std::vector<std::vector<Track>> tracks;  // of each course, of each face
};

Track smoothed(Track raw, const face::Model& model) {
  face::Smoother smoother(model.mean);
  for (std::size_t t = 0; t < raw.size(); ++t) {
    if (raw[t].cols() == 0)
      smoother.reset();
    else
      smoother.apply(raw[t], double(t) / kRate);
  }
  return raw;
}

std::string two(double value) { return fmt::format("{:.2f}", value); }

}  // namespace

Path still_path() { return Path(kPathFrames, 0.0); }

Path step_path(double size) {
  Path path = still_path();
  std::fill(path.begin() + kMoveFrame, path.end(), size);
  return path;
}

Path ramp_path(double speed) {
  Path path = still_path();
  for (int t = kMoveFrame; t < kPathFrames; ++t)
    path[std::size_t(t)] = speed * std::min(t - kMoveFrame + 1, kRampFrames);
  return path;
}

MovedFrame seen_on_path(const Still& still, const Path& path, std::uint64_t seed, int number) {
  Random random(seed, "shake", std::uint64_t(number));
  const Eigen::Vector2d way =
      path[std::size_t(number)] * unit_of(still.points) * direction_of(seed);
  const double x = way.x() + kShake * random.normal(), y = way.y() + kShake * random.normal();
  image::AffineMap map;
  map << 1, 0, -x, 0, 1, -y;
  const int width = still.picture.width(), height = still.picture.height();
  image::Image<float> seen(width, height);
  image::warp_affine(still.picture.view(), map, seen.view());
  image::add_noise(seen, kSensorNoise, seed, std::uint64_t(number));
  cv::Mat bytes(height, width, CV_8U);
  for (int v = 0; v < height; ++v)
    for (int u = 0; u < width; ++u)
      bytes.at<std::uint8_t>(v, u) =
          static_cast<std::uint8_t>(std::clamp(seen(u, v), 0.F, 255.F) + 0.5F);
  std::vector<unsigned char> file;
  cv::imencode(".jpg", bytes, file, {cv::IMWRITE_JPEG_QUALITY, kJpegQuality});
  bytes = cv::imdecode(file, cv::IMREAD_GRAYSCALE);
  MovedFrame frame{image::Image<std::uint8_t>(width, height), still.points};
  for (int v = 0; v < height; ++v)
    for (int u = 0; u < width; ++u) frame.picture(u, v) = bytes.at<std::uint8_t>(v, u);
  frame.truth.colwise() += Eigen::Vector2d(x, y).cast<float>();
  return frame;
}

double jitter_percent(const Track& track, double unit) {
  Eigen::Matrix2Xd mean;
  double frames = 0, sum = 0;
  const auto each = [&](const std::function<void(const face::Shape&)>& work) {
    for (std::size_t t = kSettled; t < track.size(); ++t)
      if (track[t].cols() > 0) work(track[t]);
  };
  each([&](const face::Shape& points) {
    if (frames++ == 0) mean.setZero(2, points.cols());
    mean += points.cast<double>();
  });
  mean /= frames;
  each([&](const face::Shape& points) {
    sum += (points.cast<double>() - mean).squaredNorm() / double(points.cols());
  });
  return 100 * std::sqrt(sum / frames) / unit;
}

std::vector<double> mean_progress(const std::vector<Track>& tracks,
                                  const std::vector<Eigen::Vector2d>& directions,
                                  const std::vector<double>& units) {
  std::vector<double> progress(kPathFrames, 0.0);
  double faces = 0;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    if (std::any_of(tracks[i].begin() + kSettled, tracks[i].end(),
                    [](const face::Shape& points) { return points.cols() == 0; }))
      continue;
    std::vector<double> along(kPathFrames, 0.0);
    double before = 0;
    for (std::size_t t = kSettled; t < kPathFrames; ++t) {
      along[t] = directions[i].dot(tracks[i][t].rowwise().mean().cast<double>().eval()) / units[i];
      if (t < kMoveFrame) before += along[t] / (kMoveFrame - kSettled);
    }
    for (std::size_t t = kSettled; t < kPathFrames; ++t) progress[t] += along[t] - before;
    ++faces;
  }
  for (double& value : progress) value /= faces;
  return progress;
}

double step_lag(const std::vector<double>& progress, double size) {
  double missing = 0;
  for (std::size_t t = kMoveFrame; t < kMoveFrame + kLagFrames; ++t)
    missing += 1 - progress[t] / size;
  return missing;
}

double ramp_lag(const std::vector<double>& progress, double speed) {
  const Path path = ramp_path(speed);
  double behind = 0;
  constexpr int kFirst = kMoveFrame + kRampFrames / 2, kLast = kMoveFrame + kRampFrames;
  for (std::size_t t = kFirst; t < kLast; ++t) behind += path[t] - progress[t];
  return behind / (kLast - kFirst) / speed;
}

void measure_steadiness(const ExperimentContext& context, const std::vector<NamedModel>& models,
                        Results& results) {
  std::string source;
  const std::vector<Still> stills = load_stills(context, context.quick ? 3 : 40, source);
  const std::size_t count = stills.size();
  // The first step and the first speed are drawn.
  std::vector<double> steps{0.05, 0.02, 0.1}, speeds{0.01, 0.005, 0.03};
  if (context.quick) steps.resize(1), speeds.resize(1);
  std::vector<Course> courses{{"still", still_path()}};
  for (const double size : steps)
    courses.push_back({fmt::format("step of {:g} %", 100 * size), step_path(size)});
  for (const double speed : speeds)
    courses.push_back({fmt::format("{:g} % a frame", 100 * speed), ramp_path(speed)});

  const bool with_dlib = have_dlib() && std::filesystem::exists(kDlibModel);
  const std::size_t methods = 2 * models.size() + (with_dlib ? 1 : 0);
  std::vector<Steadiness> all(methods);
  for (std::size_t m = 0; m < models.size(); ++m) {
    all[2 * m].name = models[m].name + ", raw";
    all[2 * m + 1].name = models[m].name + ", smoothed";
  }
  if (with_dlib) all.back().name = "dlib, shipped";
  for (Steadiness& one : all)
    one.tracks.assign(courses.size(), std::vector<Track>(count, Track(kPathFrames)));
  std::vector<Eigen::Vector2d> directions(count);
  std::vector<double> units(count);

  ThreadPool pool(context.threads);
  const face::Method dlib = with_dlib ? dlib_method(all.back().name, kDlibModel) : face::Method();
  const auto follow = [&](std::size_t i, std::size_t c) {
    const Still& still = stills[i];
    const std::uint64_t seed = context.seed * 1000 + i;
    directions[i] = direction_of(seed);
    units[i] = unit_of(still.points);
    const face::Model& first = *models.front().model;
    // A box such as a detector draws, that stays on its face as well as none would.
    const auto box_on = [&](const face::Shape& truth, const std::string& detector) {
      face::Box box = face::perturbed_box(still.points, first.mean, first.convention(detector),
                                          context.seed, i);
      const Eigen::Vector2f moved = truth.col(0) - still.points.col(0);
      box.x += moved.x(), box.y += moved.y();
      return box;
    };
    std::vector<face::Tracker> trackers;
    const MovedFrame* now = nullptr;
    face::TrackerOptions options;
    options.smooth = false;
    for (const NamedModel& one : models)
      trackers.emplace_back(
          *one.model,
          [&](image::ByteView) {
            return std::vector<face::Box>{box_on(now->truth, first.convention().detector)};
          },
          options);
    for (int t = 0; t < kPathFrames; ++t) {
      const MovedFrame frame = seen_on_path(still, courses[c].path, seed, t);
      now = &frame;
      for (std::size_t m = 0; m < models.size(); ++m) {
        const face::TrackedFrame& found = trackers[m].update(frame.picture, t / kRate);
        face::Shape& points = all[2 * m].tracks[c][i][std::size_t(t)];
        points.resize(2, 0);
        if (!found.faces.empty()) points = found.faces.front().points;
      }
      if (with_dlib)
        all.back().tracks[c][i][std::size_t(t)] =
            dlib.find(frame.picture, box_on(frame.truth, "dlib"));
    }
    for (std::size_t m = 0; m < models.size(); ++m)
      all[2 * m + 1].tracks[c][i] = smoothed(all[2 * m].tracks[c][i], *models[m].model);
  };
  for (std::size_t c = 0; c < courses.size(); ++c) {
    context.report(double(c) / double(courses.size()), "jitter and lag");
    pool.run(Index(count), [&](Index i, int) { follow(std::size_t(i), c); });
  }

  Table table{{{"method", "jitter %"}}};
  for (std::size_t c = 1; c < courses.size(); ++c) table.lines[0].push_back(courses[c].name);
  LineChart step_chart{"a step of 5 % of the eye distance", "frame after the step",
                       "gone, % of the eye distance"},
      ramp_chart{"1 % a frame, then standing", "frame after the start",
                 "gone, % of the eye distance"};
  const auto curve = [&](const std::string& name, const std::vector<double>& progress, int last) {
    Series series{name, {}, {}};
    for (int t = kMoveFrame - 3; t < kMoveFrame + last; ++t) {
      series.x.push_back(t - kMoveFrame);
      series.y.push_back(100 * progress[std::size_t(t)]);
    }
    return series;
  };
  step_chart.series.push_back(curve("truth", step_path(steps[0]), 10));
  ramp_chart.series.push_back(curve("truth", ramp_path(speeds[0]), 24));
  for (const Steadiness& one : all) {
    std::vector<double> jitters;
    for (std::size_t i = 0; i < count; ++i)
      jitters.push_back(jitter_percent(one.tracks[0][i], units[i]));
    const double jitter = finite_mean(jitters);
    results.add("steadiness", one.name, "jitter_percent", jitter, "%");
    table.lines.push_back({one.name, fmt::format("{:.3f}", jitter)});
    for (std::size_t c = 1; c < courses.size(); ++c) {
      const auto progress = mean_progress(one.tracks[c], directions, units);
      const bool is_step = c <= steps.size();
      const double lag = is_step ? step_lag(progress, steps[c - 1])
                                 : ramp_lag(progress, speeds[c - 1 - steps.size()]);
      results.add("steadiness", one.name, "lag_frames", lag, "frames",
                  {{"course", courses[c].name}});
      table.lines.back().push_back(two(lag));
      if (c == 1) step_chart.series.push_back(curve(one.name, progress, 10));
      if (c == 1 + steps.size()) ramp_chart.series.push_back(curve(one.name, progress, 24));
    }
  }
  context.say("jitter and frames of lag\n" + format_table(table.lines));
  const auto jitter = [&](const std::string& name) {
    return results.find("steadiness", name, "jitter_percent")->value;
  };
  const std::string about = fmt::format(
      "{} stills ({}). Every frame is shaken by {:g} px, has noise of {:g} grey levels and is a "
      "JPEG of quality {}. Jitter is the deviation of a point of a still face from its mean, in "
      "percent of the outer eye corners' distance, shaking included. Lag after a step is the sum "
      "of what is still missing of it over {} frames, and in motion the way behind over the speed; "
      "25 frames a second. dlib is given a box that goes with the face exactly, which no detector "
      "does, and answers in whole pixels.",
      count, source, kShake, double(kSensorNoise), kJpegQuality, kLagFrames);
  results.exhibits.push_back({"steadiness", "Video: jitter, and lag in frames",
                              "The paper smooths nothing and reports neither.", about, table});
  results.exhibits.push_back({"lag", "Video: a step, and a motion that stops", "",
                              "Mean of all faces.", Figure{{step_chart, ramp_chart}, 2}});
  results.claims.push_back(
      {"Video: jitter of a still face, % of the eye distance", "-",
       fmt::format("{:.2f} raw, {:.2f} smoothed (accurate)", jitter(all[0].name),
                   jitter(all[1].name)),
       with_dlib ? fmt::format("dlib in every frame {:.2f}", jitter(all.back().name)) : "-"});
}

}  // namespace sdm::experiments
