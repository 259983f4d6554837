#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/registry.h"
#include "experiments/rigid/followers.h"
#include "sdm/rigid/tracker.h"

namespace sdm::experiments {

/// One method on one sequence.
struct Runner {
  std::string method;
  std::unique_ptr<Follower> follower;
  double training_ms = 0, training_cpu_ms = 0;  // by the clock; of all threads together
  int tracked = 0;                              // frames until it was lost
  bool lost = false;
  rigid::Warp warp = rigid::Warp::Identity();  // of the last frame
  std::vector<double> microseconds, errors;    // of each frame; errors are those that were tracked
  int right_but_lost = 0, wrong_but_kept = 0;  // frames that its own score tells wrongly
};

/// All methods on one sequence, from the same first frame and under the same rule: a method is lost
/// when the HoG of the template, as the tracker sees it, differs by more than 30 % there, or where
/// it has quietly come to rest more than 25 px away from the truth.
class Race {
 public:
  static constexpr double kAstray = 25;  // px, mean of the corners
  static constexpr double kNear = 5;     // px: beyond it a score should tell that it is wrong

  Race(image::ByteView first, const rigid::Quad& region, const FollowerOptions& options);

  /// Shows the next frame to all that are not lost. `truth` is null where nobody knows it.
  void show(image::ByteView frame, const rigid::Warp* truth);
  bool over() const;

  const std::vector<Runner>& runners() const { return runners_; }
  const rigid::TemplateShape& shape() const { return judge_.model().shape; }

  /// frames_tracked, frames_total, time_per_frame_us, training_ms, training_cpu_ms and, where the
  /// truth is known, mean_corner_error and, for a method with a score, right_but_lost and
  /// wrong_but_kept.
  void add_rows(const std::string& name, int frames, Results& results) const;

 private:
  rigid::Tracker judge_;
  std::vector<Runner> runners_;
};

}  // namespace sdm::experiments
