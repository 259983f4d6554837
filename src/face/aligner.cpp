#include "sdm/face/aligner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/formatted.h"
#include "face/shape_descent.h"
#include "sdm/base/error.h"

namespace sdm::face {
namespace {

// A fit from a box with a lower score is tried again from places around the box: boxes of another
// size or shape than the detector's own. Chosen on dev faces (docs/face-training.md).
constexpr float kDoubt = 0.97F, kSure = 0.99F;
constexpr float kBetter = 8;  // times the odds
// Stages add log odds to a fit that ends well: seldom more than this after the last one of the
// whole face, twice as much before each, and so much in all (docs/face-training.md).
constexpr float kReach = 2, kMostReach = 13;
constexpr float kSearchShift = 0.25F, kSearchScale = 0.25F, kSearchRoll = 0.4F;

}  // namespace

struct Aligner::State {
  explicit State(const Model& m) : model(&m), descent(m) {
    result.points.resize(2, m.points());
    best.points.resize(2, m.points());
    if (!m.visibility.known()) return;
    nearest = nearest_points(m.mean, m.mirror);
    result.visible.setZero(m.points());
    best.visible.setZero(m.points());
  }

  const Alignment& run(image::ByteView grey, const Similarity& start, float still = 0);
  const Alignment& search(image::ByteView grey, const Similarity& start);
  /// A run from another place of the same picture, without visibility; ended as soon as its fit
  /// will hardly be `enough`, which leaves a fit of 0.
  void attempt(const Similarity& start, float enough);

  /// Of a finished run.
  void find_points(float moved);
  void find_visible();

  const Model* model;
  ShapeDescent descent;
  Alignment result, best;
  float fit = 0, best_fit = 0;  // the confidence's part of their scores
  bool patches_known = false;   // those of the score, for the visibility
  std::vector<int> nearest;     // points, for the visibility
};

const Alignment& Aligner::State::run(image::ByteView grey, const Similarity& start, float still) {
  find_points(descent.run(grey, start, still));
  find_visible();
  return result;
}

void Aligner::State::find_points(float moved) {
  descent.to_image(result.points);
  result.points.colwise() += descent.similarity().turned(model->label_offset);
  const Model& scored = model->base ? *model->base : *model;
  patches_known = false;
  if (!result.points.allFinite()) {
    fit = 0;
  } else if (std::isfinite(moved) && scored.confidence.known()) {
    fit = scored.confidence.probability(descent.patch_sums());
    patches_known = true;
  } else {
    const float ratio = moved / scored.typical_step;
    fit = 1 / (1 + ratio * ratio);
  }
  result.score = fit;
}

void Aligner::State::find_visible() {
  if (!patches_known) {
    result.visible.setZero();
  } else if (model->visibility.known()) {
    model->visibility.probabilities(descent.patches(), nearest, result.visible);
    result.score *= result.visible.mean();
  }
}

void Aligner::State::attempt(const Similarity& start, float enough) {
  const int last_whole = model->recipe.last_whole_stage();
  const auto log_odds = [](float p) { return std::log(p / (1 - p)); };
  const float needed = log_odds(enough);
  const auto promising = [&](int stage) {
    const int left = last_whole + 1 - stage;
    if (left < 0 || model->base) return true;
    const float here = model->confidence.probability(descent.patch_sums());
    return log_odds(here) + std::min(std::ldexp(kReach, left), kMostReach) >= needed;
  };
  find_points(descent.run_again(start, promising));
}

const Alignment& Aligner::State::search(image::ByteView grey, const Similarity& start) {
  run(grey, start);
  const Model& scored = model->base ? *model->base : *model;
  if (fit >= kDoubt || !scored.confidence.known()) return result;
  // Odds that are hardly better are chance among so many places.
  const float enough = kBetter * fit / (1 + (kBetter - 1) * fit);
  const auto keep = [&] {
    std::swap(result, best);
    std::swap(fit, best_fit);
  };
  keep();
  const auto try_from = [&](float dx, float dy, float log_scale, float roll) {
    if (best_fit >= kSure) return;
    const float size = std::exp(log_scale);
    const float c = size * std::cos(roll), s = size * std::sin(roll);
    const Eigen::Vector2f shift = start.turned({dx, dy});
    const float least = std::max(best_fit, enough);
    attempt({start.a * c - start.b * s, start.b * c + start.a * s, start.x + shift.x(),
             start.y + shift.y()},
            least);
    if (fit <= least) return;
    find_visible();
    keep();
  };
  for (const float log_scale : {0.0F, -kSearchScale, kSearchScale}) {
    if (log_scale != 0) try_from(0, 0, log_scale, 0);
    for (const auto& [dx, dy] : {std::pair{0, -1}, {0, 1}, {-1, 0}, {1, 0}})
      try_from(kSearchShift * float(dx), kSearchShift * float(dy), log_scale, 0);
  }
  for (const float roll : {-kSearchRoll, kSearchRoll}) try_from(0, 0, 0, roll);
  keep();
  return result;
}

Aligner::Aligner(const Model& model) {
  model.validate();
  state_ = std::make_unique<State>(model);
}
Aligner::~Aligner() = default;
Aligner::Aligner(Aligner&&) noexcept = default;
Aligner& Aligner::operator=(Aligner&&) noexcept = default;

const Alignment& Aligner::align(image::ByteView grey, const Box& box) {
  return align(grey, box, state_->model->boxes.front());
}

const Alignment& Aligner::align(image::ByteView grey, const Box& box,
                                const BoxConvention& convention) {
  if (!(box.width > 0) || !(box.height > 0))
    throw Error(formatted("the box is {} x {} px, expected a size above 0", box.width, box.height));
  return state_->search(grey, convention.similarity(box));
}

const Alignment& Aligner::align_from(image::ByteView grey, const Similarity& start) {
  return state_->run(grey, start);
}

const Alignment& Aligner::follow(image::ByteView grey, const Similarity& start) {
  // Beyond, the error begins to grow (docs/face-tracking.md).
  constexpr float kStill = 0.05F;
  return state_->run(grey, start, kStill);
}

}  // namespace sdm::face
