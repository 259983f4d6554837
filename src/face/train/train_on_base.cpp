#include "sdm/face/train/train_on_base.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "base/formatted.h"
#include "face/canvas.h"
#include "face/mirror.h"
#include "face/shape_descent.h"
#include "face/starts.h"
#include "face/train/compact.h"
#include "face/train/robust.h"
#include "sdm/base/error.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/aligner.h"
#include "sdm/image/hog.h"
#include "sdm/linear/ridge.h"
#include "sdm/pose/train/rigid_shape.h"

namespace sdm::face {
namespace {

using Predictor = linear::LinearPredictor<double>;

// What one point is learned from: a column a sample, then as many mirrored ones if there is a
// mirror. A delta of NaN is not known.
struct PointSamples {
  Matrix<double> features, deltas;
};

// Held-out predictions for one penalty.
struct HeldOut {
  double penalty = 0;
  Matrix<float> deltas;  // 2 points x samples
};

void check_new_points(const std::vector<TrainingFace>& faces, int folds) {
  if (static_cast<int>(faces.size()) < folds)
    throw Error(formatted("{} faces, expected at least {}", faces.size(), folds));
  const Index points = faces.front().truth.cols();
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const auto fail = [&](const std::string& why) {
      throw Error(formatted("face {}: {}", i, why));
    };
    const Shape& truth = faces[i].truth;
    if (image::ByteView(faces[i].picture).empty()) fail("it has no picture");
    if (truth.cols() != points || points < 2)
      fail(formatted("it has {} points, expected {}", truth.cols(), std::max<Index>(points, 2)));
    Index known = 0;
    for (Index p = 0; p < points; ++p) known += truth.col(p).allFinite() ? 1 : 0;
    if (2 * known < points)
      fail(formatted("{} of its {} points are known, expected at least half", known, points));
    if (bounds(truth).sizes().isZero(0)) fail("all its points lie in one place");
  }
}

// The base's mean shape over the points as if these had the same extent: a first guess.
Similarity cover(const Shape& mean, const Shape& truth) {
  const Eigen::AlignedBox2f from = bounds(mean), to = bounds(truth);
  const float scale = to.diagonal().norm() / from.diagonal().norm();
  const Eigen::Vector2f at = to.center() - scale * from.center();
  return {scale, 0, at.x(), at.y()};
}

// The partner of each point, where every point has one beyond doubt; else none.
std::vector<int> mirror_of(const Shape& mean) {
  std::vector<int> mirror;
  for (Index p = 0; p < mean.cols(); ++p) {
    const Eigen::Vector2f image(-mean(0, p), mean(1, p));
    Eigen::VectorXf distance = (mean.colwise() - image).colwise().norm().transpose();
    Index partner = 0;
    const float first = distance.minCoeff(&partner);
    distance[partner] = std::numeric_limits<float>::infinity();
    if (!(first < 0.3F * distance.minCoeff())) return {};
    mirror.push_back(static_cast<int>(partner));
  }
  for (std::size_t p = 0; p < mirror.size(); ++p)
    if (mirror[static_cast<std::size_t>(mirror[p])] != static_cast<int>(p)) return {};
  return mirror;
}

class BaseTrainer {
 public:
  BaseTrainer(const std::vector<TrainingFace>& faces, std::shared_ptr<const Model> base,
              const BaseTrainerOptions& options, const BaseTrainerObserver& observer)
      : faces_(faces),
        base_(std::move(base)),
        options_(options),
        observer_(observer),
        pool_(options.threads) {
    options.validate();
    base_->validate();
    if (base_->base) throw Error("the base has a base itself: train on that one");
    check_new_points(faces, options.folds);
    points_ = faces.front().truth.cols();
    if (!options.mirror.empty()) require_mirror(options.mirror, points_);
    if (!base_->mirror.empty()) mirror_ = options.mirror;
    std::vector<std::size_t> order(faces.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    Random random(options.seed, "folds");
    shuffle(order, random);
    fold_of_face_.resize(faces.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      fold_of_face_[order[i]] = static_cast<int>(i) % options.folds;
  }

  TrainedOnBase run() {
    TrainedOnBase result;
    Model& model = result.model;
    model.base = base_;
    model.name = options_.name;
    model.provenance = options_.provenance;
    model.licence = options_.licence;
    result.lost = find_bases();
    model.mirror = mirror_;
    learn_map(result);
    model.boxes = boxes(model.mean);
    model.recipe.unit = options_.unit;
    model.recipe.canvas = base_->recipe.canvas;
    model.recipe.shape_weight = 0;
    model.recipe.normalisation = base_->recipe.normalisation;
    while (static_cast<int>(model.maps.size()) < options_.stages && learn_stage(result)) {
    }
    learn_space(result);
    model.validate();
    return result;
  }

 private:
  Index samples() const { return static_cast<Index>(faces_.size()) * options_.starts; }
  std::size_t face_of(Index sample) const {
    return static_cast<std::size_t>(sample / options_.starts);
  }
  int fold_of(Index sample) const { return fold_of_face_[face_of(sample)]; }

  void tell(double share, const std::string& activity) const {
    if (observer_.progress) observer_.progress(share, activity);
  }

  const BoxConvention* known(std::size_t detector) const {
    for (const BoxConvention& one : base_->boxes)
      if (one.detector == options_.detectors[detector]) return &one;
    return nullptr;
  }

  // The places that a face's boxes tell.
  std::vector<Similarity> box_starts(const TrainingFace& face) const {
    std::vector<Similarity> starts;
    for (std::size_t d = 0; d < std::min(face.boxes.size(), options_.detectors.size()); ++d)
      if (const BoxConvention* convention = known(d); convention && face.boxes[d].width > 0)
        starts.push_back(convention->similarity(face.boxes[d]));
    return starts;
  }

  // The base's answers from every start, and the true points in their places.
  int find_bases() {
    const auto count = static_cast<Index>(faces_.size());
    std::vector<Shape> upright(faces_.size());  // the truth where the base puts the face
    std::vector<float> scores(faces_.size());
    // The offset of the base's labels is not that of these, and would hide their mirror.
    Model plain = *base_;
    plain.label_offset.setZero();
    std::deque<Aligner> aligners;
    for (int i = 0; i < pool_.threads(); ++i) aligners.emplace_back(plain);
    pool_.run(count, [&](Index i, int worker) {
      const auto at = static_cast<std::size_t>(i);
      const std::vector<Similarity> starts = box_starts(faces_[at]);
      const Alignment& answer = aligners[static_cast<std::size_t>(worker)].align_from(
          faces_[at].picture,
          starts.empty() ? cover(base_->mean, faces_[at].truth) : starts.front());
      scores[at] = answer.score;
      upright[at] = faces_[at].truth;
      fit_similarity(base_->mean, answer.points).to_face(faces_[at].truth, upright[at]);
    });
    const auto lost = std::count_if(scores.begin(), scores.end(), [](float s) { return s < 0.5F; });
    // Where most are lost their answers are all there is.
    const float enough = 2 * lost < count ? 0.5F : -1;
    Eigen::Matrix2Xd sum = Eigen::Matrix2Xd::Zero(2, points_);
    Eigen::RowVectorXd seen = Eigen::RowVectorXd::Zero(points_);
    for (std::size_t i = 0; i < upright.size(); ++i)
      for (Index p = 0; p < points_; ++p)
        if (scores[i] >= enough && upright[i].col(p).allFinite()) {
          sum.col(p) += upright[i].col(p).cast<double>();
          seen[p] += 1;
        }
    for (Index p = 0; p < points_; ++p)
      if (seen[p] < options_.folds)
        throw Error(formatted("point {} is known in {} faces, expected at least {}", p, seen[p],
                              options_.folds));
    mean_ = (sum.array().rowwise() / seen.array()).matrix().cast<float>();
    if (options_.find_mirror && mirror_.empty() && !base_->mirror.empty())
      mirror_ = mirror_of(mean_);
    if (!mirror_.empty()) {
      const Shape other = mean_;
      for (Index p = 0; p < points_; ++p) {
        const auto q = other.col(mirror_[static_cast<std::size_t>(p)]);
        mean_.col(p) = 0.5F * (other.col(p) + Eigen::Vector2f(-q.x(), q.y()));
      }
    }

    Model new_points;  // of it only what a start needs
    new_points.mean = mean_;
    new_points.boxes = base_->boxes;
    base_shapes_.resize(2 * base_->points(), samples());
    shapes_.resize(2 * points_, samples());
    targets_.resize(2 * points_, samples());
    places_.resize(static_cast<std::size_t>(samples()));
    std::deque<ShapeDescent> descents;
    for (int i = 0; i < pool_.threads(); ++i) descents.emplace_back(*base_);
    pool_.run(count, [&](Index i, int worker) {
      ShapeDescent& descent = descents[static_cast<std::size_t>(worker)];
      const TrainingFace& face = faces_[static_cast<std::size_t>(i)];
      std::vector<Similarity> starts = box_starts(face);
      Random random(options_.seed, "starts on a base", static_cast<std::uint64_t>(i));
      while (static_cast<int>(starts.size()) < options_.starts)
        starts.push_back(
            labelled_start(static_cast<int>(starts.size()), face.truth, new_points, random));
      Shape shape = base_->mean, truth = face.truth;
      for (int k = 0; k < options_.starts; ++k) {
        const Index s = i * options_.starts + k;
        descent.run(face.picture, starts[static_cast<std::size_t>(k)]);
        const Similarity place = descent.place(shape);
        places_[static_cast<std::size_t>(s)] = place;
        shape -= base_->mean;
        base_shapes_.col(s) = Eigen::Map<const Vector<float>>(shape.data(), shape.size());
        place.to_face(face.truth, truth);
        targets_.col(s) = Eigen::Map<const Vector<float>>(truth.data(), truth.size());
      }
    });
    tell(0.2, "finding the base's points");
    return static_cast<int>(lost);
  }

  // Mean distance of the known points, in units, over all samples. No stage here fetches a face
  // that the base has lost, so how far off it is says nothing of them.
  double error(const Matrix<float>& shapes) const {
    double sum = 0;
    for (Index s = 0; s < samples(); ++s)
      sum += std::min(static_cast<double>(kGoodFit),
                      mean_distance(Eigen::Map<const Shape>(shapes.col(s).data(), 2, points_),
                                    Eigen::Map<const Shape>(targets_.col(s).data(), 2, points_)));
    return sum / static_cast<double>(samples());
  }

  // Fits one point for each penalty: without each fold for `held`, and gives the fits to all.
  std::vector<Predictor> fit(Index p, const PointSamples& data, std::vector<HeldOut>& held) const {
    const Index size = data.features.rows(), count = samples();
    const auto folds = static_cast<std::size_t>(options_.folds);
    ThreadPool alone(1);
    std::vector<linear::NormalEquations<double>> parts;
    for (std::size_t f = 0; f < folds; ++f) {
      std::vector<Index> chosen;
      for (Index i = 0; i < data.features.cols(); ++i)
        if (static_cast<std::size_t>(fold_of(i % count)) == f && data.deltas.col(i).allFinite())
          chosen.push_back(i);
      const auto n = static_cast<Index>(chosen.size());
      Matrix<double> x(size, n), y(2, n);
      Vector<double> root(n);
      for (Index k = 0; k < n; ++k) {
        const Index i = chosen[static_cast<std::size_t>(k)];
        root[k] = std::sqrt(robust_weight(data.deltas.col(i).norm(), options_.robust));
        x.col(k) = root[k] * data.features.col(i);
        y.col(k) = root[k] * data.deltas.col(i);
      }
      parts.emplace_back(size, 2);
      parts.back().add(x, y, root, alone);
    }
    const auto solve = [&](std::size_t without, double penalty) {
      linear::NormalEquations<double> sum(size, 2);
      for (std::size_t f = 0; f < folds; ++f)
        if (f != without) sum += parts[f];
      const double energy = sum.energy(true) / sum.weight_sum;
      return linear::ridge(sum, penalty * std::max(energy, 1e-12), true, alone);
    };
    std::vector<Predictor> all;
    for (HeldOut& one : held) {
      all.push_back(solve(folds, one.penalty));
      for (std::size_t f = 0; f < folds; ++f) {
        const Predictor predictor = solve(f, one.penalty);
        for (Index s = 0; s < count; ++s)
          if (static_cast<std::size_t>(fold_of(s)) == f)
            one.deltas.col(s).segment<2>(2 * p) =
                (predictor.target_mean +
                 predictor.weights.transpose() * (data.features.col(s) - predictor.feature_mean))
                    .cast<float>();
      }
    }
    return all;
  }

  struct Learned {
    double penalty = 0, error = 0;
    Matrix<float> shapes;               // held out
    std::vector<Predictor> predictors;  // of each point
  };

  // The best of the penalties; `samples_of(p)` gives what point p is learned from.
  template <class SamplesOf>
  Learned learn(const std::vector<double>& penalties, SamplesOf&& samples_of) {
    std::vector<HeldOut> held;
    for (const double penalty : penalties)
      held.push_back({penalty, Matrix<float>::Zero(2 * points_, samples())});
    std::vector<std::vector<Predictor>> fits(static_cast<std::size_t>(points_));
    pool_.run(points_, [&](Index p, int) {
      fits[static_cast<std::size_t>(p)] = fit(p, samples_of(p), held);
    });
    Learned best;
    best.error = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < held.size(); ++k) {
      const Matrix<float> shapes = shapes_ + held[k].deltas;
      const double now = error(shapes);
      if (!(now < best.error)) continue;
      best = {held[k].penalty, now, shapes, {}};
      for (const auto& one : fits) best.predictors.push_back(one[k]);
    }
    return best;
  }

  Matrix<double> deltas_of(Index p) const {
    Matrix<double> deltas(2, mirror_.empty() ? samples() : 2 * samples());
    deltas.leftCols(samples()) = (targets_ - shapes_).middleRows(2 * p, 2).template cast<double>();
    if (mirror_.empty()) return deltas;
    deltas.rightCols(samples()) = (targets_ - shapes_)
                                      .middleRows(2 * mirror_[static_cast<std::size_t>(p)], 2)
                                      .template cast<double>();
    deltas.rightCols(samples()).row(0) *= -1;
    return deltas;
  }

  void learn_map(TrainedOnBase& result) {
    const Index base_points = base_->points();
    // How near each base point is to each new one.
    Matrix<double> distance(base_points, points_);
    for (Index p = 0; p < points_; ++p)
      distance.col(p) =
          (base_->mean.colwise() - mean_.col(p)).colwise().norm().transpose().cast<double>();
    Matrix<float> prior = Matrix<float>::Zero(2 * points_, 2 * base_points);
    for (Index p = 0; p < points_; ++p) {
      const double nearest = distance.col(p).minCoeff(), width = static_cast<double>(options_.near);
      Eigen::ArrayXd weights =
          ((nearest * nearest - distance.col(p).array().square()) / (2 * width * width)).exp();
      weights /= weights.sum();
      for (Index q = 0; q < base_points; ++q)
        prior(2 * p, 2 * q) = prior(2 * p + 1, 2 * q + 1) = static_cast<float>(weights[q]);
    }
    shapes_ = prior * base_shapes_;
    shapes_.colwise() += Eigen::Map<const Vector<float>>(mean_.data(), mean_.size());
    const double before = error(shapes_);

    // A feature that may do less for a point costs more: it comes scaled down.
    const auto scale = [&](Index p) {
      const double width = static_cast<double>(options_.reach);
      Vector<double> factors(2 * base_points);
      for (Index q = 0; q < base_points; ++q)
        factors.segment<2>(2 * q).setConstant(
            0.05 + std::exp(-distance(q, p) * distance(q, p) / (2 * width * width)));
      return factors;
    };
    const Learned best = learn(options_.map_penalties, [&](Index p) {
      PointSamples data;
      data.deltas = deltas_of(p);
      data.features.resize(2 * base_points, data.deltas.cols());
      data.features.leftCols(samples()) = base_shapes_.template cast<double>();
      if (!mirror_.empty())
        for (Index q = 0; q < base_points; ++q) {
          const Index partner = base_->mirror[static_cast<std::size_t>(q)];
          data.features.rightCols(samples()).row(2 * q) =
              -base_shapes_.row(2 * partner).template cast<double>();
          data.features.rightCols(samples()).row(2 * q + 1) =
              base_shapes_.row(2 * partner + 1).template cast<double>();
        }
      data.features.array().colwise() *= scale(p).array();
      return data;
    });
    Model& model = result.model;
    model.from_base = prior;
    model.mean = mean_;
    for (Index p = 0; p < points_; ++p) {
      const Predictor& one = best.predictors[static_cast<std::size_t>(p)];
      const Matrix<double> weights = scale(p).asDiagonal() * one.weights;
      model.from_base.middleRows(2 * p, 2) += weights.transpose().cast<float>();
      model.mean.col(p) +=
          (one.target_mean - one.weights.transpose() * one.feature_mean).cast<float>();
    }
    shapes_ = best.shapes;
    tell_stage(result, {0, best.penalty, before, best.error, true});
  }

  // The patches of all points and samples.
  Matrix<float> describe(const Recipe& recipe) {
    Matrix<float> patches(points_ * recipe.hog(0).size(), samples());
    std::deque<Canvas> canvases;
    for (int i = 0; i < pool_.threads(); ++i) canvases.emplace_back(recipe, points_);
    pool_.run(samples(), [&](Index s, int worker) {
      Canvas& canvas = canvases[static_cast<std::size_t>(worker)];
      canvas.start(faces_[face_of(s)].picture);
      canvas.draw(places_[static_cast<std::size_t>(s)], 0);
      canvas.describe(0, Eigen::Map<const Shape>(shapes_.col(s).data(), 2, points_),
                      {patches.col(s).data(), static_cast<std::size_t>(patches.rows())});
    });
    return patches;
  }

  bool learn_stage(TrainedOnBase& result) {
    Model& model = result.model;
    const std::vector<int> flip = image::mirror_permutation(options_.cells, options_.cells);
    const double before = error(shapes_);
    const auto size = static_cast<Index>(flip.size());
    Learned best;
    best.error = std::numeric_limits<double>::infinity();
    float best_cell = 0;
    for (std::size_t k = 0; k < options_.cell.size(); ++k) {
      tell(0.2 + 0.8 *
                     (static_cast<double>(model.maps.size()) +
                      static_cast<double>(k) / static_cast<double>(options_.cell.size())) /
                     options_.stages,
           formatted("stage {}, cells of {} units", model.maps.size() + 1, options_.cell[k]));
      Recipe recipe = model.recipe;
      recipe.stages = {{options_.cells, options_.cell[k] * options_.unit, false}};
      const Matrix<float> patches = describe(recipe);
      Learned now = learn(options_.penalties, [&](Index p) {
        PointSamples data;
        data.deltas = deltas_of(p);
        data.features.resize(size, data.deltas.cols());
        data.features.leftCols(samples()) =
            patches.middleRows(p * size, size).template cast<double>();
        if (!mirror_.empty())
          for (Index i = 0; i < size; ++i)
            data.features.rightCols(samples()).row(i) =
                patches
                    .row(mirror_[static_cast<std::size_t>(p)] * size +
                         flip[static_cast<std::size_t>(i)])
                    .template cast<double>();
        return data;
      });
      if (!(now.error < best.error)) continue;
      best = std::move(now);
      best_cell = options_.cell[k];
    }
    const bool kept = best.error < (1 - options_.least_gain) * before;
    if (kept) {
      const StageRecipe stage{options_.cells, best_cell * options_.unit, false};
      model.recipe.stages.push_back(stage);
      model.maps.push_back(map_of(best.predictors, flip));
      shapes_ = best.shapes;
    }
    tell_stage(result, {best_cell, best.penalty, before, best.error, kept});
    return kept;
  }

  // Patches of a point move that point alone.
  CompactMap map_of(const std::vector<Predictor>& predictors, const std::vector<int>& flip) const {
    const auto size = static_cast<Index>(flip.size());
    Matrix<float> r = Matrix<float>::Zero(2 * points_, points_ * size + 2 * points_);
    Vector<float> bias(2 * points_);
    for (Index p = 0; p < points_; ++p) {
      const Predictor& one = predictors[static_cast<std::size_t>(p)];
      Matrix<double> weights = one.weights;
      Eigen::Vector2d offset = one.target_mean - one.weights.transpose() * one.feature_mean;
      if (!mirror_.empty()) {
        // Both sides learned from the same samples: equal but for rounding, here exactly.
        const Predictor& other =
            predictors[static_cast<std::size_t>(mirror_[static_cast<std::size_t>(p)])];
        const Eigen::Vector2d sign(-1, 1),
            other_offset = other.target_mean - other.weights.transpose() * other.feature_mean;
        for (Index i = 0; i < size; ++i)
          weights.row(i) +=
              (sign.array() *
               other.weights.row(flip[static_cast<std::size_t>(i)]).transpose().array())
                  .matrix()
                  .transpose();
        weights *= 0.5;
        offset = 0.5 * (offset + (sign.array() * other_offset.array()).matrix());
      }
      r.block(2 * p, p * size, 2, size) = -weights.transpose().cast<float>();
      bias.segment<2>(2 * p) = offset.cast<float>();
    }
    return compact(DescentMap<float>(r, bias), points_, StageRecipe{.cells = options_.cells},
                   mirror_);
  }

  std::vector<BoxConvention> boxes(const Shape& mean) const {
    std::vector<BoxConvention> result = base_->boxes;
    std::vector<Shape> truths;
    for (const TrainingFace& face : faces_) truths.push_back(face.truth);
    for (std::size_t d = 0; d < options_.detectors.size(); ++d) {
      if (known(d)) continue;
      std::vector<Box> found;
      for (const TrainingFace& face : faces_)
        found.push_back(d < face.boxes.size() ? face.boxes[d] : Box{});
      if (std::count_if(found.begin(), found.end(), [](const Box& b) { return b.width > 0; }) < 2)
        continue;
      // The first is the default, as in any training.
      result.insert(d == 0 ? result.begin() : result.end(),
                    measure_convention(options_.detectors[d], truths, found, mean));
    }
    return result;
  }

  void learn_space(TrainedOnBase& result) const {
    std::vector<pose::Points2> views;
    for (const TrainingFace& face : faces_) views.push_back(face.truth.cast<double>());
    pose::RigidShapeOptions shape_options;
    shape_options.mirror = mirror_;
    try {
      const pose::RigidShape shape = pose::learn_rigid_shape(views, shape_options);
      result.model.shape3d = shape.points.cast<float>();
      result.model.shape3d_weights = shape.weights.cast<float>();
    } catch (const Error& failure) {
      result.shape3d_message = failure.what();
    }
  }

  void tell_stage(TrainedOnBase& result, const BaseStage& stage) const {
    result.stages.push_back(stage);
    if (observer_.stage) observer_.stage(stage);
  }

  const std::vector<TrainingFace>& faces_;
  std::shared_ptr<const Model> base_;
  const BaseTrainerOptions& options_;
  const BaseTrainerObserver& observer_;
  ThreadPool pool_;
  Index points_ = 0;
  std::vector<int> mirror_, fold_of_face_;
  Shape mean_;
  // A column a sample, in the place where the base put its face.
  Matrix<float> base_shapes_, shapes_, targets_;
  std::vector<Similarity> places_;
};

}  // namespace

void BaseTrainerOptions::validate() const {
  const auto require = [](bool good, const std::string& message) {
    if (!good) throw Error(message);
  };
  require(starts >= 1 && starts <= 1000,
          formatted("{} starts of each face, expected 1 to 1000", starts));
  require(folds >= 2 && folds <= 1000, formatted("{} folds, expected 2 to 1000", folds));
  require(near > 0 && reach > 0,
          formatted("base points count within {} and {} units, expected more than 0", near, reach));
  require(!map_penalties.empty() && !penalties.empty(),
          "no penalty is given, expected at least one");
  for (const auto* list : {&map_penalties, &penalties})
    for (const double one : *list)
      require(one > 0 && std::isfinite(one), formatted("a penalty is {}, expected above 0", one));
  require(stages >= 0 && stages <= 64, formatted("{} stages, expected 0 to 64", stages));
  require(!cell.empty() || stages == 0, "no size of cells is given, expected at least one");
  require(least_gain >= 0 && least_gain < 1,
          formatted("the least gain is {}, expected 0 to 1", least_gain));
  require(robust >= 0, formatted("the robust distance is {}, expected 0 or more", robust));
}

double TrainedOnBase::error() const {
  double error = 0;
  for (const BaseStage& stage : stages)
    if (stage.kept) error = stage.error_after;
  return error;
}

TrainedOnBase train_on_base(const std::vector<TrainingFace>& faces,
                            std::shared_ptr<const Model> base, const BaseTrainerOptions& options,
                            const BaseTrainerObserver& observer) {
  return BaseTrainer(faces, std::move(base), options, observer).run();
}

}  // namespace sdm::face
