#include "sdm/rigid/tracker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "rigid/check.h"
#include "rigid/state.h"
#include "sdm/base/error.h"

namespace sdm::rigid {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Below this score, and where more than this share of the cells shows something else, the maps run
// again, with weights.
constexpr double kSure = 0.7, kBeyondDoubt = 0.9;
constexpr double kCovered = 0.12;
// From this share on the polish is tried with weights, and what is foreign is looked at.
constexpr double kSuspicious = 0.02;
constexpr double kForeign = 0.06;
constexpr int kWeightedPasses = 3;
constexpr float kBest = 0.6F;  // the part of the template that must be seen
// What a scan of the whole frame gives must be surer than what is followed.
constexpr double kFound = 0.8;
// A lost template is scanned for at one of these sizes a frame, over that it had last.
constexpr std::array<double, 3> kZooms = {1, 0.7, 1.4};

std::shared_ptr<const TrackerModel> checked(TrackerModel model) {
  model.validate();
  return std::make_shared<const TrackerModel>(std::move(model));
}

/// Of the first `count` values, whose order changes.
float median(Vector<float>& values, Index count) {
  float* middle = values.data() + count / 2;
  std::nth_element(values.data(), middle, values.data() + count);
  return *middle;
}

}  // namespace

void AppearanceOptions::validate() const {
  const auto share = [](const char* name, double value) {
    if (!(value >= 0 && value <= 1))
      throw Error(formatted("{} is {:g}, expected 0 to 1", name, value));
  };
  share("forgetting", forgetting);
  share("least_score", least_score);
  share("reach", reach);
}

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
  Index cells = 0;
  for (const Vector<float>& target : model_->templates)
    cells = std::max(cells, target.size() / image::kBins);
  cell_error_.resize(cells);
  cell_sorted_.resize(cells);
  targets_ = model_->templates;
  if (model_->pixels.known()) polisher_.emplace(model_->pixels, model_->motion);
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
  if (track.lost && model_->scan) {
    const double zoom = kZooms[static_cast<std::size_t>(lost_frames_) % kZooms.size()];
    for (const Warp& place : scanner_(frame, model_->pixels, model_->shape, warp_, zoom)) {
      const Track other = settle(frame, place);
      if (other.score >= kFound && better(other, track)) track = other;
    }
  }
  lost_frames_ = track.lost ? lost_frames_ + 1 : 0;
  if (!track.lost) {
    warp_ = track.warp;
    if (appearance_) follow_appearance(frame, track);
  }
  return track;
}

bool Tracker::better(const Track& a, const Track& b) const {
  return model_->score.known() ? a.correlation > b.correlation : a.difference < b.difference;
}

Track Tracker::align(image::ByteView frame, const Warp& start) {
  Track track = settle(frame, start);
  if (!track.lost) return track;
  for (const Warp& place : model_->search) {
    const Track other = settle(frame, compose(start, place));
    if (better(other, track)) track = other;
  }
  return track;
}

/// Nothing more to try: no cell is strange, and the place is beyond doubt or the whole looks as it
/// should. (A place that is wrong altogether has no strange cells either.)
bool Tracker::settled(const Track& track) const {
  if (polisher_->covered() >= kSuspicious) return false;
  return track.score >= kBeyondDoubt ||
         (track.score >= kSure && track.difference <= model_->lost_above);
}

Track Tracker::settle(image::ByteView frame, const Warp& start) {
  Track track = descend(frame, start, Way::maps);
  if (!model_->score.known() || !std::isfinite(track.difference)) return track;
  const double covered = polisher_->covered();
  if (settled(track)) return track;
  if (track.score >= kSure) {
    const Track even = track, weighted = polish_again(track.warp);
    if (better(weighted, track)) track = weighted;
    const bool few = std::max(covered, polisher_->covered()) < kCovered;
    if (few && track.score >= kSure && track.difference <= model_->lost_above) return track;
    if (polisher_->foreign() < kForeign) return whole(frame, start, even, track);
  }
  // A motion beyond what was trained for often ends within it: the maps run again from there.
  Track again = descend(frame, track.warp, Way::maps);
  if (better(again, track)) track = again;
  if (settled(track)) return track;
  // What covers a part leads the maps away, so the rest begins where they began.
  again = descend(frame, start, Way::weighted_pixels);
  if (better(again, track)) track = again;
  Warp from = start;
  for (int pass = 0; pass < kWeightedPasses; ++pass) {
    again = descend(frame, from, Way::weighted_maps);
    from = again.warp;
    if (better(again, track)) track = again;
  }
  return track;
}

/// With weights, in the window that was looked at last.
Track Tracker::polish_again(const Warp& start) {
  Track track;
  const Warp base = window_.in_view(start);
  const Warp moved = (*polisher_)(window_.view(), base, true);
  track.warp = compose(start, moved);
  track.corners = model_->shape.corners(track.warp);
  measure(compose(base, moved), track);
  return track;
}

/// Of a template that moves as the model does not allow, the weights may fit a part alone. Where
/// this makes the whole differ by more than the paper's limit, what fits the whole is taken.
Track Tracker::whole(image::ByteView frame, const Warp& start, const Track& even,
                     const Track& best) {
  if (best.difference <= model_->lost_above) return best;
  if (even.difference <= model_->lost_above) return even;
  const Track maps = descend(frame, start, Way::maps_alone);
  return maps.difference <= model_->lost_above ? maps : best;
}

Track Tracker::descend(image::ByteView frame, const Warp& start, Way way) {
  Track track;
  track.warp = start;
  track.corners = model_->shape.corners(start);
  if (!start.allFinite()) {
    track.difference = kNever;
    track.correlation = -1;
    track.score = model_->score.known() ? 0 : std::nan("");
    track.lost = true;
    return track;
  }
  window_.look(frame, model_->shape, start);
  const Warp base = window_.in_view(start);
  StateVector x = to_state(Warp::Identity());
  if (way != Way::weighted_pixels)
    solver_.solve(
        x,
        [&](int stage, const auto& at, auto&& out) {
          const auto canvas =
              static_cast<std::size_t>(model_->stage_canvas[static_cast<std::size_t>(stage)]);
          features(window_.view(), compose(base, to_warp(at)), model_->canvases[canvas], pixels_,
                   {out.data(), static_cast<std::size_t>(out.size())});
          if (way == Way::weighted_maps)
            weigh(out, targets_[canvas]);
          else
            out -= targets_[canvas];
        },
        [&](int, const auto& at, const auto& delta, auto&& out) {
          out = to_state(step(model_->motion, to_warp(at), delta.template cast<double>()));
        });
  Warp moved = to_warp(x);
  if (polisher_ && way == Way::maps_alone)
    polisher_->look(window_.view(), compose(base, moved));
  else if (polisher_ && scale_of(compose(base, moved)) > 0)
    moved = compose(moved, (*polisher_)(window_.view(), compose(base, moved), way != Way::maps));
  track.warp = compose(start, moved);
  track.corners = model_->shape.corners(track.warp);
  measure(compose(base, moved), track);
  return track;
}

/// seen <- w (g seen - target) for each cell: the gain g is that of the cells which are trusted,
/// and a cell is trusted (w) by its residual over that of the median cell (Geman and McClure).
void Tracker::weigh(VectorRef<float> seen, const Vector<float>& target) {
  const Index cells = seen.size() / image::kBins;
  const float least = target.squaredNorm() / float(cells);
  auto error = cell_error_.head(cells);
  float gain = 1;
  for (int pass = 0; pass < 2; ++pass) {
    float over = 0, under = 1e-9F;
    for (Index c = 0; c < cells; ++c) {
      const auto s = seen.segment<image::kBins>(c * image::kBins);
      const auto t = target.segment<image::kBins>(c * image::kBins);
      error[c] = (gain * s - t).squaredNorm() / (t.squaredNorm() + least);
    }
    cell_sorted_.head(cells) = error;
    const float odd = std::max(median(cell_sorted_, cells), 1e-4F) / 2;
    for (Index c = 0; c < cells; ++c) {
      const auto s = seen.segment<image::kBins>(c * image::kBins);
      const auto t = target.segment<image::kBins>(c * image::kBins);
      error[c] = 1 / ((1 + error[c] / odd) * (1 + error[c] / odd));
      over += error[c] * s.dot(t);
      under += error[c] * s.squaredNorm();
    }
    gain = std::clamp(over / under, 0.3F, 3.F);
  }
  // Fewer cells speak: each is heard as much louder.
  float heard = 1e-9F;
  for (Index c = 0; c < cells; ++c)
    heard += error[c] * target.segment<image::kBins>(c * image::kBins).squaredNorm();
  const float louder = std::min(target.squaredNorm() / heard, 20.F);
  for (Index c = 0; c < cells; ++c) {
    auto s = seen.segment<image::kBins>(c * image::kBins);
    const auto t = target.segment<image::kBins>(c * image::kBins);
    s = louder * error[c] * (gain * s - t);
  }
}

void Tracker::measure(const Warp& warp, Track& track) {
  track.difference = difference_in_view(warp);
  track.lost = !(track.difference <= model_->lost_above);
  track.score = track.correlation = std::nan("");
  if (!model_->score.known()) return;
  track.score = 0;
  track.correlation = -1;
  track.lost = true;
  if (!std::isfinite(track.difference)) return;
  const ScoreFeatures f = score_features(track.difference);
  track.correlation = double(f[6]);
  track.score = model_->score.probability(f);
  track.lost = !(track.score >= 0.5);
}

ScoreFeatures Tracker::score_features(double difference) {
  ScoreFeatures f;
  f.setZero();
  auto& blocks = polisher_->blocks();
  for (const Polisher::Block& block : blocks) f[0] += block.share * block.correlation;
  std::sort(blocks.begin(), blocks.end(), [](const Polisher::Block& a, const Polisher::Block& b) {
    return a.correlation < b.correlation;
  });
  float below = 0;
  int quartile = 1;
  for (const Polisher::Block& block : blocks) {
    below += block.share;
    for (; quartile <= 3 && below >= 0.25F * float(quartile); ++quartile)
      f[quartile] = block.correlation;
  }
  float best = 0, counted = 0;
  for (auto block = blocks.rbegin(); block != blocks.rend() && counted < kBest; ++block) {
    const float share = std::min(block->share, kBest - counted);
    best += share * block->correlation;
    counted += share;
  }
  f[6] = best / std::max(counted, 1e-6F);
  f[4] = float(std::min(difference, 2.0));
  const Vector<float>& target = model_->templates.back();
  const Index cells = target.size() / image::kBins;
  const float least = target.squaredNorm() / float(cells);
  for (Index c = 0; c < cells; ++c) {
    const auto t = target.segment<image::kBins>(c * image::kBins);
    cell_sorted_[c] = (features_.segment<image::kBins>(c * image::kBins) - t).squaredNorm() /
                      (t.squaredNorm() + least);
  }
  f[5] = std::min(std::sqrt(median(cell_sorted_, cells)), 2.F);
  return f;
}

ScoreFeatures Tracker::evidence(image::ByteView frame, const Warp& warp) {
  window_.look(frame, model_->shape, warp);
  polisher_->look(window_.view(), window_.in_view(warp));
  return score_features(difference_in_view(window_.in_view(warp)));
}

double Tracker::bend(image::ByteView frame, const Warp& warp) {
  window_.look(frame, model_->shape, warp);
  polisher_->look(window_.view(), window_.in_view(warp));
  return polisher_->bend();
}

double Tracker::difference(image::ByteView frame, const Warp& warp) {
  window_.look(frame, model_->shape, warp);
  return difference_in_view(window_.in_view(warp));
}

double Tracker::difference_in_view(const Warp& warp) {
  // A template that has become a speck or turned inside out is not there any more.
  if (!warp.allFinite() || scale_of(warp) < 0.05) return kNever;
  features(window_.view(), warp, model_->canvases.back(), pixels_,
           {features_.data(), static_cast<std::size_t>(features_.size())});
  const Vector<float>& target = model_->templates.back();
  return double((features_ - target).norm()) / double(target.norm());
}

void Tracker::adapt(const AppearanceOptions& options) {
  options.validate();
  if (!model_->score.known())
    throw Error("the tracker has no score, so it cannot tell when its appearance may change");
  appearance_ = options;
}

void Tracker::first_appearance() {
  appearance_.reset();
  targets_ = model_->templates;
}

void Tracker::follow_appearance(image::ByteView frame, const Track& track) {
  if (!(track.score >= appearance_->least_score)) return;
  window_.look(frame, model_->shape, track.warp);
  const Warp warp = window_.in_view(track.warp);
  const auto keep = float(appearance_->forgetting);
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    auto seen = features_.head(targets_[i].size());
    features(window_.view(), warp, model_->canvases[i], pixels_,
             {seen.data(), static_cast<std::size_t>(seen.size())});
    const Vector<float>& first = model_->templates[i];
    Vector<float>& target = targets_[i];
    target = keep * target + (1 - keep) * seen;
    const float away = (target - first).norm();
    const float most = float(appearance_->reach) * first.norm();
    if (away > most) target = first + most / away * (target - first);
  }
}

}  // namespace sdm::rigid
