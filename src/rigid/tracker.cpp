#include "sdm/rigid/tracker.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rigid/check.h"
#include "rigid/state.h"

namespace sdm::rigid {
namespace {

// A motion beyond what was trained for often ends within it: then the maps run again from there.
constexpr int kPasses = 3;
constexpr double kDoubt = 0.5;  // above this share of the limit

std::shared_ptr<const TrackerModel> checked(TrackerModel model) {
  model.validate();
  return std::make_shared<const TrackerModel>(std::move(model));
}

}  // namespace

Tracker::Tracker(TrackerModel model)
    : model_(checked(std::move(model))),
      solver_(model_->cascade),
      window_(true),
      warp_(model_->start) {
  std::size_t pixels = 0;
  for (const Canvas& canvas : model_->canvases)
    pixels = std::max(pixels, std::size_t(canvas.width) * std::size_t(canvas.height));
  pixels_.resize(pixels);
  features_.resize(model_->templates.back().size());
}

Track Tracker::update(image::ByteView frame) {
  check_frame(frame);
  Track track = align(frame, warp_);
  if (track.lost && detector_) {
    if (const std::optional<Quad> found = detector_(frame)) {
      const Track other = align(frame, warp_to(model_->shape, *found));
      if (!other.lost) track = other;
    }
  }
  if (!track.lost) warp_ = track.warp;
  return track;
}

Track Tracker::align(image::ByteView frame, const Warp& start) {
  Track track = settle(frame, start);
  if (!track.lost) return track;
  for (const Warp& place : model_->search) {
    const Track other = settle(frame, compose(start, place));
    if (other.difference < track.difference) track = other;
  }
  return track;
}

Track Tracker::settle(image::ByteView frame, const Warp& start) {
  Track track = descend(frame, start);
  for (int pass = 1; pass < kPasses && track.difference > kDoubt * model_->lost_above &&
                     std::isfinite(track.difference);
       ++pass) {
    const Track again = descend(frame, track.warp);
    if (!(again.difference < track.difference)) break;
    track = again;
  }
  return track;
}

Track Tracker::descend(image::ByteView frame, const Warp& start) {
  if (!start.allFinite())
    return {start, model_->shape.corners(start), std::numeric_limits<double>::infinity(), true};
  window_.look(frame, model_->shape, start);
  const Warp base = window_.in_view(start);
  StateVector x = to_state(Warp::Identity());
  solver_.solve(
      x,
      [&](int stage, const auto& at, auto&& out) {
        const auto canvas =
            static_cast<std::size_t>(model_->stage_canvas[static_cast<std::size_t>(stage)]);
        features(window_.view(), compose(base, to_warp(at)), model_->canvases[canvas], pixels_,
                 {out.data(), static_cast<std::size_t>(out.size())});
        out -= model_->templates[canvas];
      },
      [&](int, const auto& at, const auto& delta, auto&& out) {
        out = to_state(step(model_->motion, to_warp(at), delta.template cast<double>()));
      });
  Track track;
  track.warp = compose(start, to_warp(x));
  track.corners = model_->shape.corners(track.warp);
  track.difference = difference_in_view(compose(base, to_warp(x)));
  track.lost = !(track.difference <= model_->lost_above);
  return track;
}

double Tracker::difference(image::ByteView frame, const Warp& warp) {
  window_.look(frame, model_->shape, warp);
  return difference_in_view(window_.in_view(warp));
}

double Tracker::difference_in_view(const Warp& warp) {
  // A template that has become a speck or turned inside out is not there any more.
  if (!warp.allFinite() || scale_of(warp) < 0.05) return std::numeric_limits<double>::infinity();
  features(window_.view(), warp, model_->canvases.back(), pixels_,
           {features_.data(), static_cast<std::size_t>(features_.size())});
  const Vector<float>& target = model_->templates.back();
  return double((features_ - target).norm()) / double(target.norm());
}

}  // namespace sdm::rigid
