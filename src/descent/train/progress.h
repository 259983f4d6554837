#pragma once

#include <chrono>

#include "sdm/descent/train/train.h"

namespace sdm::detail {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// How long the parts of a training take, as far as they are known, and so how long is left.
class Progress {
 public:
  Progress(const TrainObserver& observer, int stages, Index samples)
      : observer_(observer), stages_(stages), samples_(samples) {}

  bool wanted() const { return observer_.estimate || observer_.progress; }

  double accumulate = 0, advance = 0;  // seconds a sample
  double solve = 0;                    // seconds a stage

  /// Tells what is to come, by the costs as they were tried out.
  void estimate(double bytes, int stages_left) const {
    if (observer_.estimate) observer_.estimate({bytes, stages_left * stage_seconds()});
  }
  void accumulating(int stage, Index done) const {
    report(stage, "accumulating", done, undone(done) * accumulate + solve + all() * advance);
  }
  void solving(int stage) const { report(stage, "solving", 0, solve + all() * advance); }
  void advancing(int stage, Index done) const {
    report(stage, "advancing", done, undone(done) * advance);
  }

 private:
  double all() const { return static_cast<double>(samples_); }
  double undone(Index done) const { return static_cast<double>(samples_ - done); }
  double stage_seconds() const { return all() * (accumulate + advance) + solve; }
  void report(int stage, const char* activity, Index done, double left_of_stage) const {
    if (!observer_.progress) return;
    const double left = (stages_ - 1 - stage) * stage_seconds() + left_of_stage;
    observer_.progress({stage, stages_, done, samples_, activity, left});
  }

  const TrainObserver& observer_;
  int stages_;
  Index samples_;
};

}  // namespace sdm::detail
