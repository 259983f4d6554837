#include "sdm/face/tracker.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/face/detector.h"
#include "sdm/pose/object.h"

namespace sdm::face {
namespace {

// A face smaller than this says nothing: an eye of about 1.2 pixels.
constexpr float kLeastUnit = 4;

bool is_inside(const Similarity& place, image::ByteView grey) {
  return place.x >= 0 && place.y >= 0 && place.x < static_cast<float>(grey.width) &&
         place.y < static_cast<float>(grey.height);
}

// Needs no memory once `pixels` has its size.
std::optional<pose::HeadPose> head_pose(const std::optional<pose::HeadPoseEstimator>& head,
                                        const Shape& points, const Vector<float>& visible,
                                        pose::Points2& pixels) {
  if (!head) return {};
  pixels = points.cast<double>();
  // A point that is NaN is left out.
  if (2 * (visible.array() < 0.5F).count() <= visible.size())
    for (Index p = 0; p < visible.size(); ++p)
      if (visible[p] < 0.5F) pixels.col(p).setConstant(std::numeric_limits<double>::quiet_NaN());
  return head->try_estimate(pixels);
}

}  // namespace

std::optional<pose::HeadPoseEstimator> head_of(const Model& model) {
  const pose::Points3 shape = model.shape3d.cast<double>();
  // Few points or points on a plane tell no pose.
  if (shape.cols() < pose::least_points || pose::dimension(shape) < 3) return {};
  return pose::HeadPoseEstimator(shape, model.shape3d_weights.cast<double>());
}

std::optional<pose::HeadPose> head_pose(const std::optional<pose::HeadPoseEstimator>& head,
                                        const Shape& points, const Vector<float>& visible) {
  pose::Points2 pixels;
  return head_pose(head, points, visible, pixels);
}

void TrackerOptions::validate() const {
  const auto require = [](bool good, const std::string& message) {
    if (!good) throw Error("tracker: " + message);
  };
  require(faces >= 1 && faces <= 1000, formatted("{} faces, expected 1 to 1000", faces));
  require(threshold >= 0 && threshold <= 1,
          formatted("the threshold is {}, expected 0 to 1", threshold));
  require(search_every >= 1,
          formatted("a search every {} frames, expected 1 or more", search_every));
  require(memory >= 0, formatted("a memory of {} frames, expected 0 or more", memory));
  smoothing.validate();
}

struct Tracker::State {
  struct Track {
    int id = 0;
    int missing = 0;  // frames since it was seen
    bool detected = true;
    float score = 0;
    Shape points;  // as aligned: what the next frame starts from is never smoothed
    Vector<float> visible;
    Similarity place;
    Eigen::Vector2f motion{0, 0};  // of its place, pixels a frame
    Smoother smoother;
  };

  State(const Model& m, const TrackerOptions& o)
      : model(&m), options(o), convention(m.convention(o.detector)), aligner(m), head(head_of(m)) {}

  int seen() const {
    return static_cast<int>(std::count_if(tracks.begin(), tracks.end(),
                                          [](const Track& one) { return one.missing == 0; }));
  }

  bool is_good(const Alignment& fit, const Similarity& place, image::ByteView grey) const {
    return fit.score >= options.threshold && place.scale() >= kLeastUnit && is_inside(place, grey);
  }

  void follow(Track& track, image::ByteView grey);
  void part();
  void search(image::ByteView grey);
  /// A face about here, if there is one: the first fit places it.
  void look_at(image::ByteView grey, const Similarity& first);
  void take(Track& track, const Alignment& fit, const Similarity& place);
  void report(double seconds);

  const Model* model;
  BoxDetector detector;  // one of the two
  std::optional<Detector> finder;
  TrackerOptions options;
  BoxConvention convention;
  Aligner aligner;
  std::optional<pose::HeadPoseEstimator> head;
  pose::Points2 pixels;
  std::vector<Track> tracks;  // in the order of their ids
  int next_id = 1;
  int since_search = 0;
  TrackedFrame result;
};

void Tracker::State::take(Track& track, const Alignment& fit, const Similarity& place) {
  track.points = fit.points;
  track.score = fit.score;
  track.visible = fit.visible;
  track.place = place;
  track.missing = 0;
}

void Tracker::State::follow(Track& track, image::ByteView grey) {
  // Where its motion leads; then, in case it has stopped, where it was.
  for (const float way : {1.0F, 0.0F}) {
    Similarity start = track.place;
    start.x += way * track.motion.x();
    start.y += way * track.motion.y();
    const Alignment& fit = aligner.follow(grey, start);
    const Similarity place = fit_similarity(model->mean, fit.points);
    if (!is_good(fit, place, grey)) continue;
    track.motion = {place.x - track.place.x, place.y - track.place.y};
    track.detected = false;
    take(track, fit, place);
    return;
  }
  track.missing = 1;
}

// Two that have come to sit on one face: the elder stays.
void Tracker::State::part() {
  for (std::size_t i = 0; i < tracks.size(); ++i)
    for (std::size_t k = i + 1; k < tracks.size(); ++k)
      if (tracks[i].missing == 0 && tracks[k].missing == 0 &&
          same_face(tracks[i].place, tracks[k].place)) {
        tracks[k].missing = options.memory + 1;
        result.lost.push_back(tracks[k].id);
      }
}

void Tracker::State::search(image::ByteView grey) {
  result.searched = true;
  since_search = 0;
  if (finder) {
    for (const DetectedFace& face : finder->detect(grey)) {
      if (seen() >= options.faces) return;
      look_at(grey, face.points.cols() > 0
                        ? fit_similarity(model->mean, face.points)
                        : fit_similarity(model->mean, aligner.align_from(grey, face.place).points));
    }
    return;
  }
  for (const Box& box : detector(grey)) {
    if (seen() >= options.faces) return;
    if (!(box.width > 0) || !(box.height > 0)) continue;
    // The box knows neither the turn nor quite the size.
    look_at(grey, fit_similarity(model->mean, aligner.align(grey, box, convention).points));
  }
}

void Tracker::State::look_at(image::ByteView grey, const Similarity& first) {
  if (!(first.scale() >= kLeastUnit) || !is_inside(first, grey)) return;
  const Alignment& fit = aligner.follow(grey, first);
  const Similarity place = fit_similarity(model->mean, fit.points);
  if (!is_good(fit, place, grey)) return;
  const auto here = [&](bool missing) {
    return std::find_if(tracks.begin(), tracks.end(), [&](const Track& one) {
      return (one.missing > 0) == missing && same_face(one.place, place);
    });
  };
  if (here(false) != tracks.end()) return;
  auto track = here(true);
  if (track == tracks.end()) {
    tracks.push_back({next_id++,
                      0,
                      true,
                      0,
                      fit.points,
                      fit.visible,
                      place,
                      {0, 0},
                      Smoother(model->mean, options.smoothing)});
    track = tracks.end() - 1;
  }
  track->motion.setZero();
  track->detected = true;
  track->smoother.reset();
  take(*track, fit, place);
}

void Tracker::State::report(double seconds) {
  result.faces.resize(static_cast<std::size_t>(seen()));
  std::size_t at = 0;
  for (Track& track : tracks) {
    if (track.missing > 0) continue;
    TrackedFace& face = result.faces[at++];
    face.id = track.id;
    face.score = track.score;
    face.detected = track.detected;
    face.points = track.points;
    face.visible = track.visible;
    if (options.smooth) track.smoother.apply(face.points, seconds, face.visible);
    face.pose = head_pose(head, face.points, face.visible, pixels);
  }
}

Tracker::Tracker(const Model& model, BoxDetector detector, const TrackerOptions& options) {
  options.validate();
  model.validate();
  if (!detector) throw Error("tracker: no detector is given, expected one to find faces with");
  state_ = std::make_unique<State>(model, options);
  state_->detector = std::move(detector);
}
Tracker::Tracker(const Model& model, Detector detector, const TrackerOptions& options) {
  options.validate();
  model.validate();
  if (detector.points() != 0 && detector.points() != model.points())
    throw Error(formatted("tracker: the detector's faces have {} points, expected the model's {}",
                          detector.points(), model.points()));
  state_ = std::make_unique<State>(model, options);
  state_->finder.emplace(std::move(detector));
}
Tracker::~Tracker() = default;
Tracker::Tracker(Tracker&&) noexcept = default;
Tracker& Tracker::operator=(Tracker&&) noexcept = default;

const TrackedFrame& Tracker::update(image::ByteView grey, double seconds) {
  if (grey.empty())
    throw Error(
        formatted("tracker: the frame is {} x {}, expected some pixels", grey.width, grey.height));
  State& s = *state_;
  s.result.lost.clear();
  s.result.searched = false;
  for (State::Track& track : s.tracks) {
    if (track.missing > 0) {
      ++track.missing;
      continue;
    }
    s.follow(track, grey);
    if (track.missing > 0) s.result.lost.push_back(track.id);
  }
  s.part();
  ++s.since_search;
  const int seen = s.seen();
  const bool is_time =
      seen == 0 || !s.result.lost.empty() || s.since_search >= s.options.search_every;
  if (seen < s.options.faces && is_time) s.search(grey);
  std::erase_if(s.result.lost, [&](int id) {
    return std::any_of(s.tracks.begin(), s.tracks.end(),
                       [&](const State::Track& one) { return one.id == id && one.missing == 0; });
  });
  std::erase_if(s.tracks, [&](const State::Track& one) { return one.missing > s.options.memory; });
  s.report(seconds);
  return s.result;
}

void Tracker::reset() {
  state_->tracks.clear();
  state_->since_search = 0;
}

}  // namespace sdm::face
