#include "sdm/face/train/train_visibility.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "face/shape_descent.h"
#include "face/starts.h"
#include "face/train/known_faces.h"
#include "face/train/logistic.h"
#include "sdm/face/train/occluder.h"
#include "sdm/image/hog.h"
#include "sdm/linear/ridge.h"

namespace sdm::face {
namespace {

constexpr std::size_t kHeldOutEvery = 5;  // faces
constexpr std::size_t kFacesAtATime = 64;
constexpr double kRidge = 0.3;  // relative
constexpr double kFewest = 5;   // points of either kind among the held-out faces

/// What was seen of some faces: of every trial all patches, and of every point whether it was
/// right.
struct Looks {
  Matrix<float> patches;  // a column a trial
  Matrix<float> labels;   // points x trials: 1 bare and right, -1 not, 0 not known
};

Looks look_at_faces(const Model& model, const std::vector<TrainingFace>& faces,
                    const std::vector<std::size_t>& chosen, std::uint64_t seed,
                    std::size_t first_face, std::deque<ShapeDescent>& descents, ThreadPool& pool) {
  const Index trials = static_cast<Index>(chosen.size()) * kVisibilityTrials;
  Looks looks{Matrix<float>(descents.front().patches_size(), trials),
              Matrix<float>(model.points(), trials)};
  pool.run(trials, [&](Index i, int worker) {
    ShapeDescent& descent = descents[static_cast<std::size_t>(worker)];
    const std::size_t number = chosen[static_cast<std::size_t>(i / kVisibilityTrials)];
    const TrainingFace& face = faces[number];
    const CoveredFace covered = covered_face(
        faces, model, number, static_cast<int>(i % kVisibilityTrials), seed, first_face);
    descent.run(covered.picture, covered.start);
    Shape points(2, model.points());
    descent.to_image(points);
    const float unit = fit_similarity(model.mean, face.truth).scale();
    descent.patch_sums();
    looks.patches.col(i) = descent.patches();
    for (Index p = 0; p < model.points(); ++p) {
      const float off = (points.col(p) - face.truth.col(p)).norm() / unit;
      const bool good = covered.bare[static_cast<std::size_t>(p)] && off < kRightPoint;
      looks.labels(p, i) = std::isnan(off) ? 0.0F : good ? 1.0F : -1.0F;
    }
  });
  return looks;
}

class VisibilityLearner {
 public:
  VisibilityLearner(const Model& model, Index patch)
      : mirror_(model.mirror),
        nearest_(nearest_points(model.mean, model.mirror)),
        patch_(patch),
        near_(static_cast<Index>(nearest_.size()) / model.points()) {
    const int cells =
        model.recipe.stages[static_cast<std::size_t>(model.recipe.last_whole_stage())].cells;
    flip_ = image::mirror_permutation(cells, cells);
    equations_.assign(static_cast<std::size_t>(model.points()),
                      linear::NormalEquations<float>(near_ * patch_, 1));
  }

  /// Points of the right side are learned as their partners in a mirror.
  Index learned_as(Index p) const {
    return mirror_.empty() ? p : std::min<Index>(p, mirror_[static_cast<std::size_t>(p)]);
  }

  /// What the point is judged by, as its partner would see it where that is learned.
  void features(const Looks& looks, Index p, Index trial, Eigen::Ref<Vector<float>> out) const {
    const bool flipped = learned_as(p) != p;
    for (Index k = 0; k < near_; ++k) {
      const auto from = looks.patches.col(trial).segment(
          nearest_[static_cast<std::size_t>(p * near_ + k)] * patch_, patch_);
      auto to = out.segment(k * patch_, patch_);
      if (!flipped) {
        to = from;
        continue;
      }
      for (Index i = 0; i < patch_; ++i) to[i] = from[flip_[static_cast<std::size_t>(i)]];
    }
  }

  void add(const Looks& looks, ThreadPool& pool) {
    const Index points = looks.labels.rows();
    for (Index p = 0; p < points; ++p) {
      Matrix<float> f(near_ * patch_, looks.labels.cols()), t(1, looks.labels.cols());
      Vector<float> root(looks.labels.cols());
      pool.run(looks.labels.cols(), [&](Index i, int) {
        const float label = looks.labels(p, i);
        root[i] = label != 0 ? 1.0F : 0.0F;
        features(looks, p, i, f.col(i));
        if (label == 0) f.col(i).setZero();
        t(0, i) = label;
      });
      equations_[static_cast<std::size_t>(learned_as(p))].add(f, t, root, pool);
    }
  }

  linear::LinearPredictor<float> solve(Index p, detail::Ranks& ranks, ThreadPool& pool) const {
    return ranks.solve(
        equations_[static_cast<std::size_t>(p)], [&](const linear::NormalEquations<float>& all) {
          const double energy = all.energy(true) / static_cast<double>(all.features());
          return linear::ridge(all, kRidge * energy, true, pool);
        });
  }

  /// The weights of a learned point for its partner.
  Vector<float> flipped(const Vector<float>& weights) const {
    Vector<float> result(weights.size());
    for (Index k = 0; k < near_; ++k)
      for (Index i = 0; i < patch_; ++i)
        result[k * patch_ + flip_[static_cast<std::size_t>(i)]] = weights[k * patch_ + i];
    return result;
  }

  Index feature_size() const { return near_ * patch_; }

 private:
  const std::vector<int>& mirror_;
  std::vector<int> nearest_, flip_;
  Index patch_, near_;
  std::vector<linear::NormalEquations<float>> equations_;  // of the points that are learned
};

}  // namespace

CoveredFace covered_face(const std::vector<TrainingFace>& others, const Model& model,
                         std::size_t number, int trial, std::uint64_t seed,
                         std::size_t first_face) {
  const TrainingFace& face = others[number];
  const Shape truth = complete(face.truth, model.mean);
  Random random(seed, "covered faces",
                static_cast<std::uint64_t>(first_face + number) * kVisibilityTrials +
                    static_cast<std::uint64_t>(trial));
  CoveredFace covered{face.picture, labelled_start(trial, truth, model, random), {}};
  covered.bare.assign(static_cast<std::size_t>(truth.cols()), true);
  for (std::size_t p = 0; p < face.hidden.size(); ++p) covered.bare[p] = !face.hidden[p];
  if (trial == 0) return covered;
  const Occluder occluder = draw_occluder(truth, random);
  const auto other = static_cast<std::size_t>(random.below(others.size()));
  paint(occluder, others[other].picture, random, covered.picture);
  for (Index p = 0; p < truth.cols(); ++p)
    if (occluder.covers(truth(0, p), truth(1, p)))
      covered.bare[static_cast<std::size_t>(p)] = false;
  return covered;
}

Visibility learn_visibility(const Model& model, const std::vector<TrainingFace>& faces,
                            std::uint64_t seed, ThreadPool& pool,
                            const std::function<void(double share)>& progress,
                            Communicator* communicator) {
  detail::Ranks ranks(communicator);
  const auto share = ranks.share_of(static_cast<Index>(faces.size()));
  const auto first_face = static_cast<std::size_t>(share.first);
  std::deque<ShapeDescent> descents;  // one a thread
  for (int i = 0; i < pool.threads(); ++i) descents.emplace_back(model);
  const Index points = model.points();
  VisibilityLearner learner(model, descents.front().patches_size() / points);
  std::vector<std::size_t> held, rest;
  for (std::size_t i = 0; i < faces.size(); ++i)
    ((first_face + i) % kHeldOutEvery == kHeldOutEvery - 1 ? held : rest).push_back(i);
  std::size_t done = 0;
  const auto show_own = [&](const std::vector<std::size_t>& numbers, const auto& look) {
    for (std::size_t first = 0; first < numbers.size(); first += kFacesAtATime) {
      const std::size_t last = std::min(first + kFacesAtATime, numbers.size());
      const std::vector<std::size_t> chosen(numbers.begin() + static_cast<std::ptrdiff_t>(first),
                                            numbers.begin() + static_cast<std::ptrdiff_t>(last));
      const Looks looks = look_at_faces(model, faces, chosen, seed, first_face, descents, pool);
      look(looks);
      learner.add(looks, pool);
      done += chosen.size();
      if (progress) progress(static_cast<double>(done) / static_cast<double>(faces.size()));
    }
  };
  const auto show = [&](const std::vector<std::size_t>& numbers, const auto& look) {
    ranks.together([&] { show_own(numbers, look); });
  };
  show(rest, [](const Looks&) {});
  if (share.all < static_cast<Index>(kHeldOutEvery)) return {};  // none is held out

  // Probabilities from points that the first fit has not seen.
  std::vector<linear::LinearPredictor<float>> guesses(static_cast<std::size_t>(points));
  for (Index p = 0; p < points; ++p)
    if (learner.learned_as(p) == p)
      guesses[static_cast<std::size_t>(p)] = learner.solve(p, ranks, pool);
  std::vector<std::vector<double>> scores(static_cast<std::size_t>(points)), labels = scores;
  show(held, [&](const Looks& looks) {
    Vector<float> f(learner.feature_size());
    for (Index i = 0; i < looks.labels.cols(); ++i)
      for (Index p = 0; p < points; ++p) {
        if (looks.labels(p, i) == 0) continue;
        const auto as = static_cast<std::size_t>(learner.learned_as(p));
        const auto& guess = guesses[as];
        learner.features(looks, p, i, f);
        scores[as].push_back(static_cast<double>(guess.weights.col(0).dot(f - guess.feature_mean) +
                                                 guess.target_mean[0]));
        labels[as].push_back(static_cast<double>(looks.labels(p, i)));
      }
  });

  for (std::size_t p = 0; p < scores.size(); ++p) {
    scores[p] = ranks.gather(scores[p], 1, kMostScores);
    labels[p] = ranks.gather(labels[p], 1, kMostScores);
  }

  Visibility visibility;
  visibility.weights.resize(learner.feature_size(), points);
  visibility.bias.resize(points);
  for (Index p = 0; p < points; ++p) {
    const auto as = static_cast<std::size_t>(learner.learned_as(p));
    if (static_cast<Index>(as) != p) {  // the partner came before
      visibility.weights.col(p) = learner.flipped(visibility.weights.col(static_cast<Index>(as)));
      visibility.bias[p] = visibility.bias[static_cast<Index>(as)];
      continue;
    }
    const auto good = static_cast<double>(std::count(labels[as].begin(), labels[as].end(), 1.0));
    if (good < kFewest || static_cast<double>(labels[as].size()) - good < kFewest) return {};
    const Logistic logistic =
        fit_logistic(scores[as], labels[as], std::vector<double>(scores[as].size(), 1.0));
    const auto all = learner.solve(p, ranks, pool);
    visibility.weights.col(p) = static_cast<float>(logistic.slope) * all.weights.col(0);
    visibility.bias[p] = static_cast<float>(
        logistic.slope *
            static_cast<double>(all.target_mean[0] - all.weights.col(0).dot(all.feature_mean)) +
        logistic.offset);
  }
  return visibility;
}

}  // namespace sdm::face
