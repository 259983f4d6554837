#include "sdm/face/train/train_confidence.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "face/shape_descent.h"
#include "face/train/known_faces.h"
#include "face/train/logistic.h"
#include "sdm/base/error.h"
#include "sdm/base/random.h"
#include "sdm/face/train/trial.h"
#include "sdm/linear/ridge.h"

namespace sdm::face {
namespace {

constexpr std::size_t kHeldOut = 5;   // every so many faces
constexpr std::size_t kAtATime = 64;  // faces whose features are in memory at once
constexpr double kPenalty = 1;        // relative
constexpr int kLeast = 10;            // good and failed fits among the held-out faces
// All trials of a face; and the good ones once more with the points pushed off, as a fit that
// slips.
constexpr Index kFits = kTrialKinds.size() + kNearTrials;

struct Fits {
  Matrix<float> features;     // a column a fit
  std::vector<double> error;  // in units; infinite where there is no face

  Index size() const { return features.cols(); }
  double label(Index i) const {
    return error[static_cast<std::size_t>(i)] < static_cast<double>(kGoodFit) ? 1 : -1;
  }
};

// A push of 0.1 to 0.4 units, a turn and another size.
Vector<float> push(const Shape& shape, Random random) {
  const auto uniform = [&](double low, double high) {
    return static_cast<float>(random.uniform(low, high));
  };
  const float way = uniform(0.1, 0.4), towards = uniform(0, 6.2832), turn = uniform(-0.3, 0.3),
              size = std::exp(uniform(-0.2, 0.2));
  const Similarity pushing{size * std::cos(turn), size * std::sin(turn), way * std::cos(towards),
                           way * std::sin(towards)};
  Shape pushed = shape;
  pushing.to_image(shape, pushed);
  pushed -= shape;
  return Eigen::Map<const Vector<float>>(pushed.data(), pushed.size());
}

// All trials of the chosen faces.
Fits run_trials(const Model& model, const std::vector<TrainingFace>& faces,
                const std::vector<std::size_t>& chosen, std::uint64_t seed, std::size_t first_face,
                std::deque<ShapeDescent>& descents, ThreadPool& pool) {
  Fits fits;
  fits.features.resize(descents.front().patch_sums_size(),
                       static_cast<Index>(chosen.size()) * kFits);
  fits.error.resize(static_cast<std::size_t>(fits.size()));
  pool.run(static_cast<Index>(chosen.size()), [&](Index i, int worker) {
    ShapeDescent& descent = descents[static_cast<std::size_t>(worker)];
    const TrainingFace& face = faces[chosen[static_cast<std::size_t>(i)]];
    const std::size_t number = first_face + chosen[static_cast<std::size_t>(i)];
    const Shape truth = complete(face.truth, model.mean);
    Shape points = truth;
    Index at = i * kFits;
    const auto keep = [&](bool has_face) {
      descent.to_image(points);
      fits.features.col(at) = descent.patch_sums();
      fits.error[static_cast<std::size_t>(at)] =
          has_face ? unit_error(points, face.truth, model.mean) : HUGE_VAL;
      ++at;
    };
    for (std::size_t kind = 0; kind < kTrialKinds.size(); ++kind) {
      const Trial trial = make_trial(kTrialKinds[kind], face.picture, truth, model, seed, number);
      descent.run(trial.has_face() ? face.picture : trial.faceless, trial.start);
      keep(trial.has_face());
      if (kind >= kNearTrials) continue;
      descent.move(push(descent.shape(), Random(seed, "push", number * kTrialKinds.size() + kind)));
      keep(true);
    }
  });
  return fits;
}

// Good and failed fits count the same as a whole: `balance` is what a good one weighs.
void add(const Fits& fits, double balance, linear::NormalEquations<float>& equations,
         ThreadPool& pool) {
  Matrix<float> features(fits.features.rows(), fits.size());
  Matrix<float> targets(1, fits.size());
  Vector<float> root(fits.size());
  for (Index i = 0; i < fits.size(); ++i) {
    const double label = fits.label(i);
    root[i] = static_cast<float>(std::sqrt(label > 0 ? balance : 1));
    features.col(i) = root[i] * fits.features.col(i);
    targets(0, i) = root[i] * static_cast<float>(label);
  }
  equations.add(features, targets, root, pool);
}

linear::LinearPredictor<float> solve(const linear::NormalEquations<float>& equations,
                                     detail::Ranks& ranks, ThreadPool& pool) {
  return ranks.solve(equations, [&](const linear::NormalEquations<float>& all) {
    const double mean_energy = all.energy(true) / static_cast<double>(all.features());
    return linear::ridge(all, kPenalty * mean_energy, true, pool);
  });
}

}  // namespace

Confidence learn_confidence(const Model& model, const std::vector<TrainingFace>& faces,
                            std::uint64_t seed, ThreadPool& pool,
                            const std::function<void(double share)>& progress,
                            Communicator* communicator) {
  detail::Ranks ranks(communicator);
  const auto first_face =
      static_cast<std::size_t>(ranks.share_of(static_cast<Index>(faces.size())).first);
  if (model.base) throw Error("a model on a base has the base's score: learn it for the base");
  std::deque<ShapeDescent> descents;  // one a thread
  for (int i = 0; i < pool.threads(); ++i) descents.emplace_back(model);
  const Index size = descents.front().patch_sums_size();
  std::vector<std::size_t> held, rest;
  for (std::size_t i = 0; i < faces.size(); ++i)
    ((first_face + i) % kHeldOut == kHeldOut - 1 ? held : rest).push_back(i);
  // The near trials are good, as a rule, and no other fit is.
  const double balance = static_cast<double>(kFits - kNearTrials) / kNearTrials;

  linear::NormalEquations<float> equations(size, 1);
  std::size_t done = 0;
  const auto try_own = [&](const std::vector<std::size_t>& numbers, const auto& look) {
    for (std::size_t first = 0; first < numbers.size(); first += kAtATime) {
      const std::vector<std::size_t> chosen(
          numbers.begin() + static_cast<std::ptrdiff_t>(first),
          numbers.begin() +
              static_cast<std::ptrdiff_t>(std::min(first + kAtATime, numbers.size())));
      const Fits fits = run_trials(model, faces, chosen, seed, first_face, descents, pool);
      look(fits);
      add(fits, balance, equations, pool);
      done += chosen.size();
      if (progress) progress(static_cast<double>(done) / static_cast<double>(faces.size()));
    }
  };
  const auto try_faces = [&](const std::vector<std::size_t>& numbers, const auto& look) {
    ranks.together([&] { try_own(numbers, look); });
  };
  double good = 0;
  try_faces(rest, [&](const Fits& fits) {
    for (Index i = 0; i < fits.size(); ++i) good += fits.label(i) > 0;
  });
  if (ranks.sum(good) < kLeast) return {};
  const auto guess = solve(equations, ranks, pool);
  std::vector<double> scores, labels;
  try_faces(held, [&](const Fits& fits) {
    for (Index i = 0; i < fits.size(); ++i) {
      labels.push_back(fits.label(i));
      scores.push_back(
          static_cast<double>(guess.weights.col(0).dot(fits.features.col(i) - guess.feature_mean) +
                              guess.target_mean[0]));
    }
  });
  scores = ranks.gather(scores, 1, kMostScores);
  labels = ranks.gather(labels, 1, kMostScores);
  const auto held_good = std::count(labels.begin(), labels.end(), 1.0);
  if (held_good < kLeast || static_cast<std::ptrdiff_t>(labels.size()) - held_good < kLeast)
    return {};

  // Each class has the same weight as a whole.
  const auto count = static_cast<double>(labels.size()),
             good_count = static_cast<double>(held_good);
  std::vector<double> divisors;
  for (const double label : labels) divisors.push_back(label > 0 ? good_count : count - good_count);
  const Logistic logistic = fit_logistic(scores, labels, divisors);
  const auto all = solve(equations, ranks, pool);

  Confidence confidence;
  confidence.weights = static_cast<float>(logistic.slope) * all.weights.col(0);
  confidence.bias = static_cast<float>(
      logistic.slope *
          static_cast<double>(all.target_mean[0] - all.weights.col(0).dot(all.feature_mean)) +
      logistic.offset);
  return confidence;
}

}  // namespace sdm::face
