#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "experiments/plot.h"
#include "experiments/registry.h"
#include "experiments/rigid_convergence.h"
#include "experiments/rigid_followers.h"
#include "experiments/rigid_scene.h"
#include "sdm/error.h"
#include "sdm/rigid/train_tracker.h"

#if SDM_HAVE_OPENCV
#include "adapters/opencv/image.h"
#include "adapters/opencv/video.h"
#endif

namespace sdm::experiments {
namespace {

using rigid::Warp;

constexpr int kFrames = 500, kQuickFrames = 60;
// Share of the time between two frames that the shutter is open.
constexpr double kExposure = 1.0 / 3;
// A method that has quietly come to rest elsewhere does not track, whatever the HoG says there.
constexpr double kAstray = 25;  // px, mean of the corners

// Processor time of this thread: other work on the machine does not count.
double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// One method on one sequence.
struct Runner {
  std::string method;
  std::unique_ptr<Follower> follower;
  double training_ms = 0;
  int tracked = 0;
  bool lost = false;
  std::vector<double> microseconds, errors;
};

std::vector<Runner> make_runners(image::ByteView first, const rigid::Quad& region,
                                 const FollowerOptions& options) {
  std::vector<Runner> runners;
  for (const std::string& method : follower_names()) {
    const auto start = std::chrono::steady_clock::now();
    Runner runner{method, make_follower(method, first, region, options), 0, 0, false, {}, {}};
    runner.training_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    runners.push_back(std::move(runner));
  }
  return runners;
}

/// The lost rule, the same for all: the HoG of the template as the tracker sees it.
rigid::Tracker make_judge(image::ByteView first, const rigid::Quad& region) {
  rigid::TrackerOptions options;  // learning is not asked for, so it is kept short
  options.samples = 20;
  options.stages = 1;
  options.coarse_stages = 0;
  return rigid::train_tracker(first, region, options).tracker;
}

void follow(Runner& runner, image::ByteView frame, rigid::Tracker& judge, const Warp* truth) {
  if (runner.lost) return;
  const double start = processor_seconds();
  const Warp found = runner.follower->update(frame);
  runner.microseconds.push_back(1e6 * (processor_seconds() - start));
  const rigid::TemplateShape& shape = judge.model().shape;
  const double error =
      truth == nullptr ? 0 : (shape.corners(found) - shape.corners(*truth)).colwise().norm().mean();
  const bool seen = judge.difference(frame, found) <= judge.model().lost_above;
  if (!seen || !(error <= kAstray)) {
    runner.lost = true;
    return;
  }
  ++runner.tracked;
  runner.errors.push_back(error);
}

void add_rows(const std::string& name, const std::vector<Runner>& runners, int frames,
              Results& results) {
  for (const Runner& r : runners) {
    results.add(name, r.method, "frames_tracked", r.tracked, "frames");
    results.add(name, r.method, "frames_total", frames, "frames");
    results.add(name, r.method, "time_per_frame_us", median(r.microseconds), "us");
    results.add(name, r.method, "training_ms", r.training_ms, "ms");
  }
}

image::Image<std::uint8_t> copy(image::ByteView view) {
  image::Image<std::uint8_t> image(view.width, view.height);
  for (int y = 0; y < view.height; ++y) std::copy_n(view.row(y), view.width, image.view().row(y));
  return image;
}

std::vector<Runner> run_sequence(const Texture& texture, const MotionPath& path, int frames,
                                 const ExperimentContext& context) {
  Scene scene(texture, context.seed);
  const Warp still = path.at(0, frames);
  const image::Image<std::uint8_t> first = copy(scene.render(still, still, {}, 0));
  rigid::Tracker judge = make_judge(first, scene.region());
  std::vector<Runner> runners =
      make_runners(first, scene.region(), {.seed = context.seed, .threads = context.threads});
  for (int t = 1; t <= frames; ++t) {
    const Warp opened = path.at(t - kExposure / 2, frames),
               closed = path.at(t + kExposure / 2, frames);
    const image::ByteView frame =
        scene.render(opened, closed, path.conditions(t, frames), std::uint64_t(t));
    const Warp truth = scene.truth((opened + closed) / 2);
    for (Runner& runner : runners) follow(runner, frame, judge, &truth);
    if (std::all_of(runners.begin(), runners.end(), [](const Runner& r) { return r.lost; })) break;
  }
  return runners;
}

#if SDM_HAVE_OPENCV
/// The planar target of Debian's visp-images-data, where it is installed. Nobody knows the truth
/// here: the HoG alone tells how long each method held on.
void run_real_video(const ExperimentContext& context, Results& results) {
  const std::string pattern = "/usr/share/visp-images-data/ViSP-images/mire-2/image.%04d.pgm";
  try {
    opencv::VideoReader video(pattern);
    cv::Mat grey;
    video.read_grey(grey);
    const rigid::Quad region = rigid::quad_of_box(90, 70, 200, 150);
    rigid::Tracker judge = make_judge(opencv::view(grey), region);
    std::vector<Runner> runners = make_runners(opencv::view(grey), region,
                                               {.seed = context.seed, .threads = context.threads});
    int frames = 0;
    while (video.read_grey(grey) && (!context.quick || frames < kQuickFrames)) {
      ++frames;
      for (Runner& runner : runners) follow(runner, opencv::view(grey), judge, nullptr);
    }
    add_rows("mire-2", runners, frames, results);
  } catch (const Error& error) {
    context.say(fmt::format("no real video: {}", error.what()));
  }
}
#endif

/// Share of all frames whose corners lie within a threshold, lost ones counting as outside.
Chart add_success(const std::vector<std::vector<double>>& errors, int frames, Results& results) {
  LineChart chart;
  chart.title = "all sequences";
  chart.x_label = "corner error, px";
  chart.y_label = "frames within, %";
  chart.log_x = true;
  for (std::size_t m = 0; m < errors.size(); ++m) {
    const std::string& method = follower_names()[m];
    Series series{method, {}, {}};
    for (const double threshold : {0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0}) {
      const auto within = std::count_if(errors[m].begin(), errors[m].end(),
                                        [&](double error) { return error <= threshold; });
      const double fraction = double(within) / frames;
      results.add("all", method, "success_fraction", fraction, "", {{"threshold_px", threshold}});
      series.x.push_back(threshold);
      series.y.push_back(100 * fraction);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

Results run_rigid(const ExperimentContext& context) {
  Results results("rigid");
  std::string source;
  std::vector<Texture> textures = load_textures(context, source);
  if (context.quick && textures.size() > 2) textures.resize(2);
  const int frames = context.quick ? kQuickFrames : kFrames;
  const double convergence_share = 0.4;

  const std::vector<std::string>& methods = follower_names();
  std::vector<std::vector<double>> errors(methods.size()), times(methods.size());
  std::vector<double> tracked(methods.size(), 0), training(methods.size(), 0);
  std::vector<std::vector<std::string>> table = {{"frames tracked"}};
  table[0].insert(table[0].end(), methods.begin(), methods.end());
  int sequences = 0;
  const double count = double(textures.size() * motion_paths().size());
  for (const Texture& texture : textures)
    for (const MotionPath& path : motion_paths()) {
      const std::string name = texture.name + "/" + path.name;
      context.report((1 - convergence_share) * sequences++ / count, name);
      const std::vector<Runner> runners = run_sequence(texture, path, frames, context);
      add_rows(name, runners, frames, results);
      table.push_back({name});
      for (std::size_t m = 0; m < methods.size(); ++m) {
        const Runner& r = runners[m];
        double sum = 0;
        for (const double error : r.errors) sum += error;
        results.add(name, r.method, "mean_corner_error", sum / double(r.errors.size()), "px");
        tracked[m] += r.tracked;
        training[m] = std::max(training[m], r.training_ms);
        errors[m].insert(errors[m].end(), r.errors.begin(), r.errors.end());
        times[m].insert(times[m].end(), r.microseconds.begin(), r.microseconds.end());
        table.back().push_back(std::to_string(r.tracked));
      }
    }

  table.push_back({fmt::format("all of {}", frames * sequences)});
  for (std::size_t m = 0; m < methods.size(); ++m) {
    results.add("all", methods[m], "frames_tracked", tracked[m], "frames");
    results.add("all", methods[m], "frames_total", frames * sequences, "frames");
    results.add("all", methods[m], "time_per_frame_us", median(times[m]), "us");
    results.add("all", methods[m], "training_ms", training[m], "ms");
    table.back().push_back(fmt::format("{:.0f}", tracked[m]));
  }
  table.push_back({"us a frame, median"});
  for (const auto& values : times) table.back().push_back(fmt::format("{:.0f}", median(values)));
  table.push_back({"ms to train, most"});
  for (const double ms : training) table.back().push_back(fmt::format("{:.0f}", ms));
  context.say(format_table(table));

#if SDM_HAVE_OPENCV
  run_real_video(context, results);
#endif
  const Chart success = add_success(errors, frames * sequences, results);
  write_text(context.output / "rigid" / "success.svg", svg({success}, 1));
  const std::vector<Chart> charts = run_convergence(context, textures, results, [&](double share) {
    context.report(1 - convergence_share * (1 - share), "convergence");
  });
  write_text(context.output / "rigid" / "convergence.svg", svg(charts, 2));

  for (const char* condition : {"clean", "relit", "blurred", "noisy"}) {
    std::vector<std::vector<std::string>> lines = {
        {fmt::format("{}: converged % at sigma", condition)}};
    for (const std::string& method : methods) {
      lines.push_back({method});
      for (const Results::Row& row : results.rows()) {
        if (row.case_name != condition || row.method != method) continue;
        if (method == methods.front()) lines[0].push_back(row.extra["sigma"].dump());
        lines.back().push_back(fmt::format("{:.1f}", 100 * row.value));
      }
    }
    context.say(format_table(lines));
  }
  results.settings["textures"] = source;
  results.settings["frames"] = frames;
  results.settings["motion"] = "affine";
  results.settings["iterations_of_peers"] = FollowerOptions().iterations;
  results.settings["lost_above_hog_difference"] = rigid::TrackerOptions().lost_above;
  results.settings["lost_above_corner_error_px"] = kAstray;
  results.settings["time"] = "processor time of one thread, median over frames";
  return results;
}

}  // namespace sdm::experiments
