#include "experiments/tracking/runs.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <opencv2/core/utility.hpp>

#include "report/machine.h"
#include "report/statistics.h"
#include "sdm/face/adapter.h"
#include "sdm/face/aligner.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/tracker.h"
#include "sdm/opencv/detector.h"

namespace sdm::experiments {
namespace {

constexpr double kLost = std::numeric_limits<double>::quiet_NaN();
constexpr double kFramesPerSecond = 25;

double processor_microseconds() { return 1e6 * processor_seconds(); }

// Percent of the outer eye corners' distance, over these points.
double error_of(const face::Shape& found, const face::Shape& truth, const std::vector<int>& ids) {
  double sum = 0, count = 0;
  for (const int p : ids) {
    if (!truth.col(p).allFinite()) continue;
    sum += static_cast<double>((found.col(p) - truth.col(p)).norm());
    ++count;
  }
  const auto [right, left] = face::ibug(68).unit;
  return 100 * sum / count / static_cast<double>((truth.col(right) - truth.col(left)).norm());
}

double error_of(const face::Shape& found, const face::Shape& truth) {
  return error_of(found, truth, face::ibug(68).ids);
}

void add_error(TrackingRun& run, const face::Shape* found, const face::Shape& truth) {
  run.errors.push_back(found == nullptr ? kLost : error_of(*found, truth));
  run.inner.push_back(found == nullptr ? kLost : error_of(*found, truth, face::ibug(49).ids));
}

/// One model on one sequence, in every way.
class Follower {
 public:
  Follower(const ShippedModel& shipped, const MovedFrame& first, std::uint64_t seed)
      : model_(shipped.model),
        seed_(seed),
        adapter_(model_, shipped.state),
        aligner_(model_),
        runs(tracking_ways) {
    adapter_.update(first.picture, completed(first));
    face::TrackerOptions options;
    options.smooth = false;
    const auto detector = [this](image::ByteView) { return std::vector<face::Box>{box()}; };
    trackers_.emplace_back(model_, detector, options);
    trackers_.emplace_back(adapter_.model(), detector, options);
  }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  void see(const MovedFrame& frame, int number) {
    frame_ = &frame;
    detect(number > 0);
    for (const TrackingWay way : {tracked, adapted}) {
      face::Tracker& tracker = trackers_[way == tracked ? 0 : 1];
      const double start = processor_microseconds();
      const face::TrackedFrame& found = tracker.update(frame.picture, number / kFramesPerSecond);
      const double spent = processor_microseconds() - start;
      if (number == 0) continue;
      TrackingRun& run = runs[way];
      add_error(run, found.faces.empty() ? nullptr : &found.faces.front().points, frame.truth);
      if (found.searched)
        ++run.searches;
      else
        run.microseconds.push_back(spent);
    }
  }

  void see_other(const MovedFrame& frame) {
    frame_ = &frame;
    const face::Box place = box();
    runs[tracked].other = error_of(aligner_.align(frame.picture, place).points, frame.truth);
    face::Aligner after(adapter_.model());
    runs[adapted].other = error_of(after.align(frame.picture, place).points, frame.truth);
  }

 private:
  // Points that nobody labelled are where the model finds them: adapting then leaves them alone.
  face::Shape completed(const MovedFrame& first) {
    face::Shape points = first.truth;
    if (points.allFinite()) return points;
    frame_ = &first;
    const face::Shape found = aligner_.align(first.picture, box()).points;
    for (Index p = 0; p < points.cols(); ++p)
      if (points.col(p).hasNaN()) points.col(p) = found.col(p);
    return points;
  }

  face::Box box() {
    return face::perturbed_box(frame_->truth, model_.mean, model_.convention(), seed_, ++boxes_);
  }

  void detect(bool counts) {
    const face::Box place = box();
    const double start = processor_microseconds();
    const face::Shape& points = aligner_.align(frame_->picture, place).points;
    const double spent = processor_microseconds() - start;
    if (!counts) return;
    add_error(runs[detected], &points, frame_->truth);
    runs[detected].microseconds.push_back(spent);
  }

  const face::Model& model_;
  std::uint64_t seed_, boxes_ = 0;
  face::Adapter adapter_;
  face::Aligner aligner_;
  std::vector<face::Tracker> trackers_;  // before and after adapting
  const MovedFrame* frame_ = nullptr;

 public:
  std::vector<TrackingRun> runs;
};

}  // namespace

std::vector<std::vector<TrackingRun>> follow_sequence(const std::vector<ShippedModel>& models,
                                                      const FaceSequence& sequence,
                                                      const MovedFrame& other, std::uint64_t seed) {
  std::vector<std::unique_ptr<Follower>> followers;
  for (int number = 0; number < sequence.frames; ++number) {
    const MovedFrame frame = sequence.frame(number);
    if (number == 0)
      for (const ShippedModel& model : models)
        followers.push_back(std::make_unique<Follower>(model, frame, seed));
    for (const auto& follower : followers) follower->see(frame, number);
  }
  std::vector<std::vector<TrackingRun>> runs;
  for (const auto& follower : followers) {
    if (other.truth.cols() > 0) follower->see_other(other);
    runs.push_back(std::move(follower->runs));
  }
  return runs;
}

int TrackingRun::lost() const {
  return static_cast<int>(std::count_if(errors.begin(), errors.end(),
                                        [](double error) { return !std::isfinite(error); }));
}

double detector_microseconds(const FaceSequences& sequences) {
  const face::BoxDetector detector = opencv::make_detector("haar_alt2");
  std::vector<double> times;
  for (std::size_t i = 0; i < std::min<std::size_t>(20, sequences.all.size()); ++i) {
    const MovedFrame frame = sequences.all[i].frame(0);
    const double start = processor_microseconds();
    detector(frame.picture);
    times.push_back(processor_microseconds() - start);
  }
  return finite_median(times);
}

}  // namespace sdm::experiments
