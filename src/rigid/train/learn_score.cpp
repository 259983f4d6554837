#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <memory>

#include "rigid/train/pictures.h"
#include "sdm/base/random.h"
#include "sdm/base/thread_pool.h"

namespace sdm::rigid {
namespace {

constexpr double kFarStart = 2.5;  // times the deviations of training: some of these fail
// Most trials are covered, and by much: else the score takes what is covered for what is wrong.
constexpr double kCoveredTrials = 0.8;
constexpr double kLeastCovered = 0.2, kMostCovered = 0.5;
constexpr double kOtherTexture = 0.6;  // HoG difference from which a texture counts as another
constexpr Index kFewest = 12;          // trials of either kind that are enough to learn from

struct Trial {
  ScoreFeatures features = ScoreFeatures::Zero();
  bool counts = false, right = false;
};

/// What stands in the template's place instead of it, or over a part of it.
enum class Texture { turned, mirrored, flat };

std::uint8_t texel(image::ByteView picture, Texture texture, int grey, int x, int y) {
  const int mirrored = picture.width - 1 - x;
  if (texture == Texture::flat) return static_cast<std::uint8_t>(grey);
  return picture(mirrored, texture == Texture::turned ? picture.height - 1 - y : y);
}

/// Puts another texture over a part of the template, from one of its sides or as a box inside.
void cover(image::ImageView<std::uint8_t> seen, image::ByteView other, const Warp& from_template,
           const TemplateShape& shape, Random& random) {
  const double share = random.uniform(kLeastCovered, kMostCovered);
  double low[2] = {-shape.width / 2, -shape.height / 2}, high[2] = {-low[0], -low[1]};
  if (random.below(2) == 0) {
    const std::size_t axis = random.below(2);
    const double length = share * (high[axis] - low[axis]);
    if (random.below(2) == 0)
      high[axis] = low[axis] + length;
    else
      low[axis] = high[axis] - length;
  } else {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const double side = high[axis] - low[axis], length = std::sqrt(share) * side;
      low[axis] += random.uniform(0, side - length);
      high[axis] = low[axis] + length;
    }
  }
  const auto texture = static_cast<Texture>(random.below(3));
  const int grey = int(random.below(256));
  const Warp back = inverse(from_template);
  for (int y = 0; y < seen.height; ++y)
    for (int x = 0; x < seen.width; ++x) {
      const Eigen::Vector2d at = apply(back, {double(x), double(y)});
      if (at.x() > low[0] && at.x() < high[0] && at.y() > low[1] && at.y() < high[1])
        seen(x, y) = texel(other, texture, grey, x, y);
    }
}

void relight(image::ImageView<std::uint8_t> seen, Random& random) {
  const double gain = std::exp(random.uniform(-0.7, 0.3)), offset = random.uniform(-30, 30);
  const double tilt_x = random.uniform(-0.2, 0.2), tilt_y = random.uniform(-0.2, 0.2);
  for (int y = 0; y < seen.height; ++y)
    for (int x = 0; x < seen.width; ++x) {
      const double here =
          gain * (1 + tilt_x * (2.0 * x / seen.width - 1) + tilt_y * (2.0 * y / seen.height - 1));
      seen(x, y) = static_cast<std::uint8_t>(
          std::clamp(here * (seen(x, y) - 128) + 128 + offset, 0.0, 255.0) + 0.5);
    }
}

Trial run_trial(Tracker& tracker, const Pictures& pictures, const TrainTrackerOptions& options,
                Index number) {
  Random random(options.seed, "score trials", static_cast<std::uint64_t>(number));
  const TemplateShape& shape = tracker.model().shape;
  const Warp& truth = pictures.from_template();
  const image::ByteView clean = pictures.raw(0), given = pictures.raw(number);
  image::Image<std::uint8_t> seen(given.width, given.height);
  for (int y = 0; y < given.height; ++y) std::copy_n(given.row(y), given.width, seen.view().row(y));

  const bool other = number % 4 == 3;
  if (other) {
    const auto texture = static_cast<Texture>(random.below(2));
    for (int y = 0; y < given.height; ++y)
      for (int x = 0; x < given.width; ++x) seen(x, y) = texel(given, texture, 0, x, y);
  } else if (random.uniform(0, 1) < kCoveredTrials) {
    cover(seen, clean, truth, shape, random);
  }
  if (random.below(2) == 0) relight(seen, random);
  // A texture that looks the same when turned says nothing.
  if (other && tracker.difference(seen, truth) < kOtherTexture) return {};

  const Warp start = compose(truth, draw_warp(options, random.uniform(0, kFarStart), random));
  const Track track = tracker.align(seen, start);
  if (!track.warp.allFinite() || scale_of(track.warp) < 0.05) return {};
  const double unit = scale_of(truth);
  const double error = (track.corners - shape.corners(truth)).colwise().norm().mean() / unit;
  return {tracker.evidence(seen, track.warp), true, !other && error < kRight};
}

}  // namespace

Score learn_score(const Tracker& tracker, const Pictures& pictures,
                  const TrainTrackerOptions& options) {
  ThreadPool pool(options.threads);
  std::vector<std::unique_ptr<Tracker>> trackers(static_cast<std::size_t>(pool.threads()));
  for (auto& mine : trackers) mine = std::make_unique<Tracker>(tracker);
  std::vector<Trial> trials(static_cast<std::size_t>(options.score_trials));
  pool.run(options.score_trials, [&](Index i, int worker) {
    trials[static_cast<std::size_t>(i)] =
        run_trial(*trackers[static_cast<std::size_t>(worker)], pictures, options, i);
  });

  double count[2] = {0, 0};
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(kScoreFeatures), square = mean;
  for (const Trial& trial : trials) {
    if (!trial.counts) continue;
    ++count[trial.right];
    mean += trial.features.cast<double>();
    square += trial.features.cast<double>().cwiseAbs2();
  }
  if (std::min(count[0], count[1]) < kFewest) return tracker.model().score;
  const double all = count[0] + count[1];
  mean /= all;
  const Eigen::VectorXd deviation = (square / all - mean.cwiseAbs2()).cwiseMax(1e-6).cwiseSqrt();

  // Logistic regression by Newton's method on standardised features, either kind weighing a half.
  constexpr Index kUnknowns = kScoreFeatures + 1;
  constexpr double kPenalty = 3e-3;
  Eigen::VectorXd w = Eigen::VectorXd::Zero(kUnknowns);
  for (int iteration = 0; iteration < 20; ++iteration) {
    Eigen::VectorXd slope = -kPenalty * w;
    Eigen::MatrixXd hessian = kPenalty * Eigen::MatrixXd::Identity(kUnknowns, kUnknowns);
    for (const Trial& trial : trials) {
      if (!trial.counts) continue;
      Eigen::VectorXd f(kUnknowns);
      f << (trial.features.cast<double>() - mean).cwiseQuotient(deviation), 1;
      const double p = 1 / (1 + std::exp(-w.dot(f))), weight = 0.5 / count[trial.right];
      slope += weight * ((trial.right ? 1 : 0) - p) * f;
      hessian += weight * p * (1 - p) * f * f.transpose();
    }
    const Eigen::VectorXd step = hessian.ldlt().solve(slope);
    w += step;
    if (step.norm() < 1e-9) break;
  }
  const Eigen::VectorXd weights = w.head(kScoreFeatures).cwiseQuotient(deviation);
  return {weights.cast<float>(), float(w[kScoreFeatures] - weights.dot(mean))};
}

}  // namespace sdm::rigid
