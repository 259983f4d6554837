#include "experiments/rigid/race.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "report/machine.h"
#include "report/statistics.h"
#include "sdm/rigid/train/train_tracker.h"

namespace sdm::experiments {
namespace {

using rigid::Warp;

rigid::Tracker make_judge(image::ByteView first, const rigid::Quad& region) {
  rigid::TrainTrackerOptions options;  // learning is not asked for, so it is kept short
  options.samples = 20;
  options.stages = 1;
  options.coarse_stages = 0;
  options.polish_side = 0;
  options.score_trials = 0;
  options.scan = false;
  return rigid::train_tracker(first, region, options).tracker;
}

}  // namespace

Race::Race(image::ByteView first, const rigid::Quad& region, const FollowerOptions& options)
    : judge_(make_judge(first, region)) {
  for (const std::string& method : follower_names()) {
    const auto start = std::chrono::steady_clock::now();
    const double cpu_start = process_seconds();
    Runner runner;
    runner.method = method;
    runner.follower = make_follower(method, first, region, options);
    runner.training_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    runner.training_cpu_ms = 1e3 * (process_seconds() - cpu_start);
    runners_.push_back(std::move(runner));
  }
}

void Race::show(image::ByteView frame, const Warp* truth) {
  for (Runner& runner : runners_) {
    if (runner.lost) continue;
    const double start = processor_seconds();
    runner.warp = runner.follower->update(frame);
    runner.microseconds.push_back(1e6 * (processor_seconds() - start));
    const double error =
        truth == nullptr
            ? 0
            : (shape().corners(runner.warp) - shape().corners(*truth)).colwise().norm().mean();
    if (truth != nullptr && !std::isnan(runner.follower->score())) {
      const bool kept = runner.follower->score() >= 0.5;
      runner.right_but_lost += !kept && error <= kNear ? 1 : 0;
      runner.wrong_but_kept += kept && !(error <= kNear) ? 1 : 0;
    }
    const bool seen = judge_.difference(frame, runner.warp) <= judge_.model().lost_above;
    runner.lost = !seen || !(error <= kAstray);
    if (runner.lost) continue;
    ++runner.tracked;
    if (truth != nullptr) runner.errors.push_back(error);
  }
}

bool Race::over() const {
  return std::all_of(runners_.begin(), runners_.end(), [](const Runner& r) { return r.lost; });
}

void Race::add_rows(const std::string& name, int frames, Results& results) const {
  for (const Runner& r : runners_) {
    results.add(name, r.method, "frames_tracked", r.tracked, "frames");
    results.add(name, r.method, "frames_total", frames, "frames");
    results.add(name, r.method, "time_per_frame_us", finite_median(r.microseconds), "us");
    results.add(name, r.method, "training_ms", r.training_ms, "ms");
    results.add(name, r.method, "training_cpu_ms", r.training_cpu_ms, "ms");
    if (!r.errors.empty() && !std::isnan(r.follower->score())) {
      results.add(name, r.method, "right_but_lost", r.right_but_lost, "frames");
      results.add(name, r.method, "wrong_but_kept", r.wrong_but_kept, "frames");
    }
    if (!r.errors.empty())
      results.add(name, r.method, "mean_corner_error",
                  std::accumulate(r.errors.begin(), r.errors.end(), 0.0) / double(r.errors.size()),
                  "px");
  }
}

}  // namespace sdm::experiments
