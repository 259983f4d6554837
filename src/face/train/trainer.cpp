#include "sdm/face/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/formatted.h"
#include "face/shape_descent.h"
#include "face/starts.h"
#include "face/train/compact.h"
#include "face/train/face_problem.h"
#include "face/train/known_faces.h"
#include "face/train/robust.h"
#include "face/train/turned_copies.h"
#include "sdm/base/error.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/aligner.h"
#include "sdm/face/train/train_confidence.h"
#include "sdm/face/train/train_visibility.h"
#include "sdm/face/train/trial.h"
#include "sdm/image/resample.h"
#include "sdm/pose/train/rigid_shape.h"

namespace sdm::face {
namespace {

Box box_of(const TrainingFace& face, std::size_t detector) {
  return detector < face.boxes.size() ? face.boxes[detector] : Box{};
}

void check(const std::vector<TrainingFace>& faces, const char* what, Index points) {
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const auto fail = [&](const std::string& why) {
      throw Error(formatted("{} {}: {}", what, i, why));
    };
    if (image::ByteView(faces[i].picture).empty()) fail("it has no picture");
    if (faces[i].truth.cols() != points)
      fail(formatted("it has {} points, expected {}", faces[i].truth.cols(), points));
    Index known = 0;
    for (Index p = 0; p < points; ++p) known += faces[i].truth.col(p).allFinite() ? 1 : 0;
    if (known < 2 || 4 * known < points)
      fail(formatted("{} of its {} points are known, expected at least a quarter, and two", known,
                     points));
    if (bounds(faces[i].truth).sizes().isZero(0)) fail("all its points lie in one place");
  }
}

class Trainer {
 public:
  Trainer(const std::vector<TrainingFace>& faces, const std::vector<TrainingFace>& dev,
          const TrainerOptions& options)
      : own_(faces),
        dev_(dev),
        options_(options),
        pool_(options.threads),
        ranks_(options.communicator),
        share_(ranks_.share_of(static_cast<Index>(faces.size()))),
        known_(checked(faces, dev, options)),
        turned_(copies_of(faces)) {
    const Index points = known_.truths.front().cols();
    const std::size_t scales = options.recipe.patch_scale.size();
    if (scales != 0 && static_cast<Index>(scales) != points)
      throw Error(formatted("{} patch scales for {} points", scales, points));
    options.recipe.require_parts(points, options.mirror);
    const std::size_t names = options.point_names.size();
    if (names != 0 && static_cast<Index>(names) != points)
      throw Error(formatted("{} names of points for {} points", names, points));
    mean_ = mean_shape(known_.truths, options.mirror, options.unit);
    for (std::size_t d = 0; d < options.detectors.size(); ++d) {
      std::vector<Box> boxes;
      for (const std::vector<Box>& of : known_.boxes) boxes.push_back(of[d]);
      const auto found =
          std::count_if(boxes.begin(), boxes.end(), [](const Box& box) { return box.width > 0; });
      // Without any boxes the model is started from the truth, with a detector's usual noise.
      if (found < 2 && d > 0) continue;
      boxes_.push_back(found < 2
                           ? BoxConvention{options.detectors[d]}
                           : measure_convention(options.detectors[d], known_.truths, boxes, mean_));
      detector_of_.push_back(d);
    }
  }

  TrainedFace run(const TrainerObserver& observer) {
    TrainedFace result;
    prepare_dev(result);
    Descent descent = learn_maps(observer);
    result.summary = std::move(descent.trained.summary);
    result.stages = std::move(descent.stages);

    Model& model = result.model;
    model.recipe = options_.recipe;
    const std::size_t stages =
        options_.fewest_stages ? best_stage(result.stages) + 1 : result.stages.size();
    model.recipe.stages.resize(stages);
    model.mean = mean_;
    model.mirror = options_.mirror;
    model.boxes = boxes_;
    if (ranks_.is_root()) result.shape3d_message = learn_shape3d(model);
    model.name = options_.name;
    model.provenance = options_.provenance;
    model.licence = options_.licence;
    model.point_names = options_.point_names;
    for (std::size_t i = 0; i < stages; ++i)
      model.maps.push_back(compact(descent.trained.cascade.maps[i], mean_.cols(),
                                   options_.recipe.stages[i], options_.mirror));
    if (options_.label_offset && !options_.mirror.empty())
      model.label_offset = label_offset(descent.trained.states);
    model.validate();
    model.typical_step = typical_step(model);
    model.confidence = confidence(model, observer);
    if (options_.visibility && model.confidence.known())
      model.visibility = learn_visibility(model, faces(), options_.seed, pool_,
                                          telling(observer, "learning which points are seen"),
                                          options_.communicator);
    ranks_.together([&] { result.dev_error = dev_error_of(model); });
    return result;
  }

  std::vector<double> held_out_errors() {
    std::vector<double> errors;
    for (const FaceStage& stage : learn_maps({}).stages) errors.push_back(stage.held_out_error);
    return errors;
  }

 private:
  // What is learned from.
  const std::vector<TrainingFace>& faces() const {
    return !fresh_.empty() ? fresh_ : !turned_.empty() ? turned_ : own_;
  }

  // Before anything else.
  KnownFaces checked(const std::vector<TrainingFace>& faces, const std::vector<TrainingFace>& dev,
                     const TrainerOptions& options) {
    const Index points = points_of(faces, ranks_);
    ranks_.together([&] {
      options.validate();
      if (share_.all == 0) throw Error("there are no faces to train on, expected at least one");
      check(faces, "face", points);
      check(dev, "dev face", points);
    });
    return KnownFaces::of(faces, points, options.detectors.size(), ranks_);
  }

  std::vector<TrainingFace> copies_of(const std::vector<TrainingFace>& faces) {
    std::vector<TrainingFace> copies;
    ranks_.together([&] { copies = with_turned_copies(faces, known_.truths, share_, options_); });
    return copies;
  }

  // Of one of faces() across all ranks: first come all faces, then all copies.
  Index number_of(Index face) const {
    const auto own = static_cast<Index>(own_.size());
    if (face < own) return share_.first + face;
    const Index copy = face - own;
    return share_.all + copy / own * share_.all + share_.first + copy % own;
  }

  static constexpr const char* kAllPoints =
      "a point is not known, expected all where faces are new in every stage";
  static constexpr int kRounds = 6;
  static constexpr double kSettled = 1;

  struct Descent {
    TrainResult<float> trained;
    std::vector<FaceStage> stages;
  };

  // Missing points are first where the mean shape has them, and then where the maps that have not
  // seen the face find them: what regression with a weight of 0 for them comes to.
  Descent learn_maps(const TrainerObserver& observer) {
    std::vector<Shape> truths;
    bool whole = true;
    for (const TrainingFace& face : faces()) {
      truths.push_back(complete(face.truth, mean_));
      whole = whole && face.truth.allFinite();
    }
    whole = ranks_.world().minimum(whole ? 1 : 0) > 0;
    if (options_.fresh && !whole) throw Error(kAllPoints);
    if (whole) return descend(truths, observer, options_.checkpoint);
    TrainerObserver first;
    first.progress = observer.progress;
    for (int round = 0; round < kRounds; ++round) {
      const Descent descent = descend(truths, first, "");
      const std::vector<Shape> found = held_out_points(descent.trained.states);
      double moved = 0, missing = 0;
      for (std::size_t i = 0; i < truths.size(); ++i) {
        const auto unit = static_cast<double>(fit_similarity(mean_, truths[i]).scale());
        for (Index p = 0; p < mean_.cols(); ++p) {
          if (faces()[i].truth.col(p).allFinite()) continue;
          moved += static_cast<double>((found[i].col(p) - truths[i].col(p)).norm()) / unit;
          ++missing;
          truths[i].col(p) = found[i].col(p);
        }
      }
      moved = ranks_.sum(moved);
      missing = ranks_.sum(missing);
      // What is left is less than the maps' own error.
      if (moved / missing < kSettled * descent.stages.back().held_out_error) break;
    }
    return descend(truths, observer, options_.checkpoint);
  }

  Descent descend(const std::vector<Shape>& truths, const TrainerObserver& observer,
                  const std::string& checkpoint) {
    std::vector<Index> face_of_sample;
    for (std::size_t i = 0; i < faces().size(); ++i)
      face_of_sample.insert(face_of_sample.end(), static_cast<std::size_t>(options_.starts),
                            static_cast<Index>(i));
    FaceProblem problem(faces(), options_.recipe, mean_, options_.mirror, face_of_sample,
                        share_.first);
    Matrix<float> starts, targets;
    place(problem, truths, 0, starts, targets);
    if (options_.fresh)
      problem.on_renew = [&](int stage, const std::vector<DescentMap<float>>& maps,
                             Matrix<float>& states, Matrix<float>& further) {
        look_at_fresh(stage, problem);
        std::vector<Shape> drawn;
        for (const TrainingFace& face : fresh_) drawn.push_back(face.truth);
        place(problem, drawn, stage, states, further);
        for (std::size_t k = 0; k < maps.size(); ++k)
          advance(problem, static_cast<int>(k), maps[k], states);
      };

    Descent descent;
    double dev_error = std::numeric_limits<double>::quiet_NaN();
    if (!dev_.empty()) start_dev();
    problem.on_learned = [&](int stage, const DescentMap<float>& map) {
      ranks_.together([&] {
        if (!dev_.empty()) dev_error = advance_dev(stage, map);
      });
      descent.stages.push_back({{}, dev_error, held_out_error(problem.errors())});
    };
    TrainObserver inner;
    inner.estimate = observer.estimate;
    inner.progress = observer.progress;
    inner.stage = [&](const StageSummary& stage) {
      descent.stages.back().stage = stage;
      if (observer.stage) observer.stage(descent.stages.back());
    };
    TrainOptions train_options = descent_options();
    train_options.checkpoint = checkpoint;
    descent.trained = sdm::train(problem, starts, targets, train_options, inner);
    // Those of a checkpoint were learned earlier.
    for (std::size_t i = 0; i < descent.stages.size(); ++i)
      descent.stages[i].stage = descent.trained.summary.stages[i];
    return descent;
  }

  // Starts and targets of all samples; `round`: how many sets of faces came before.
  void place(const FaceProblem& problem, const std::vector<Shape>& truths, int round,
             Matrix<float>& starts, Matrix<float>& targets) {
    starts.resize(problem.state_size(), problem.samples());
    targets.resize(problem.state_size(), problem.samples());
    for (Index s = 0; s < problem.samples(); ++s) {
      const auto face = static_cast<std::size_t>(problem.face(s));
      const Index k = s % options_.starts,
                  number = (round * share_.all + number_of(problem.face(s))) * options_.starts + k;
      starts.col(s) = problem.start(
          start(faces()[face], truths[face], static_cast<int>(k),
                Random(options_.seed, "training starts", static_cast<std::uint64_t>(number))));
      targets.col(s) = problem.target(truths[face]);
    }
  }

  void look_at_fresh(int stage, FaceProblem& problem) {
    fresh_.clear();  // before there are new ones: there may be no room for both
    fresh_ = options_.fresh(stage);
    if (fresh_.size() != own_.size())
      throw Error(
          formatted("{} new faces for stage {}, expected {}", fresh_.size(), stage, own_.size()));
    check(fresh_, "new face", mean_.cols());
    for (const TrainingFace& face : fresh_)
      if (!face.truth.allFinite()) throw Error(kAllPoints);
    problem.look_at(faces());
  }

  // The mean over the faces of the first start's.
  double held_out_error(const std::vector<double>& errors) {
    double sum = 0;
    for (std::size_t i = 0; i < own_.size(); ++i)
      sum += errors[i * static_cast<std::size_t>(options_.starts)];
    return ranks_.sum(sum) / static_cast<double>(share_.all);
  }

  // The earliest that no later one beats by more than a trifle.
  static std::size_t best_stage(const std::vector<FaceStage>& stages) {
    constexpr double kTrifle = 0.002;
    std::size_t best = 0;
    for (std::size_t i = 1; i < stages.size(); ++i)
      if (stages[i].held_out_error < (1 - kTrifle) * stages[best].held_out_error) best = i;
    return best;
  }

  // The mean of what is left to the labels where maps that had not seen them came to, if it is more
  // than chance.
  Eigen::Vector2f label_offset(const Matrix<float>& states) {
    constexpr double kBeyondChance = 3;  // standard errors
    Eigen::Vector2d sum = Eigen::Vector2d::Zero(), squares = sum;
    double count = 0;
    Shape missing(2, mean_.cols());
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const auto x = states.col(static_cast<Index>(i) * options_.starts);
      shape_difference(x, faces()[i].truth,
                       Eigen::Map<Vector<float>>(missing.data(), missing.size()));
      Eigen::Vector2d mean = Eigen::Vector2d::Zero();
      double length = 0, known = 0;
      for (Index p = 0; p < missing.cols(); ++p) {
        if (!missing.col(p).allFinite()) continue;
        mean += missing.col(p).cast<double>();
        length += double(missing.col(p).norm());
        ++known;
      }
      if (length / known > double(kGoodFit)) continue;
      mean /= known;
      sum += mean;
      squares += mean.cwiseAbs2();
      ++count;
    }
    ranks_.sum(std::span(sum.data(), 2));
    ranks_.sum(std::span(squares.data(), 2));
    count = ranks_.sum(count);
    if (count < 2) return Eigen::Vector2f::Zero();
    Eigen::Vector2d offset = sum / count;
    for (Index axis = 0; axis < 2; ++axis) {
      const double variance = std::max(squares[axis] / count - offset[axis] * offset[axis], 0.0);
      if (std::abs(offset[axis]) < kBeyondChance * std::sqrt(variance / count)) offset[axis] = 0;
    }
    return offset.cast<float>();
  }

  // The mean over the starts of each face.
  std::vector<Shape> held_out_points(const Matrix<float>& states) const {
    std::vector<Shape> found;
    Shape points(2, mean_.cols());
    for (std::size_t i = 0; i < faces().size(); ++i) {
      found.push_back(Shape::Zero(2, mean_.cols()));
      for (int k = 0; k < options_.starts; ++k) {
        const auto x = states.col(static_cast<Index>(i) * options_.starts + k);
        similarity_of(x).to_image(shape_of(x), points);
        found.back() += points / static_cast<float>(options_.starts);
      }
    }
    return found;
  }

  // Left empty where the faces do not tell it (too few, or all from one side): gives the reason.
  std::string learn_shape3d(Model& model) const {
    std::vector<pose::Points2> views;
    for (const Shape& truth : known_.truths) views.push_back(truth.cast<double>());
    pose::RigidShapeOptions shape_options;
    shape_options.mirror = options_.mirror;
    try {
      const pose::RigidShape shape = pose::learn_rigid_shape(views, shape_options);
      model.shape3d = shape.points.cast<float>();
      model.shape3d_weights = shape.weights.cast<float>();
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  Similarity start(const TrainingFace& face, const Shape& truth, int number, Random random) const {
    const auto i = static_cast<std::size_t>(number);
    if (number < options_.box_starts && i < boxes_.size())
      if (const Box box = box_of(face, detector_of_[i]); box.width > 0)
        return boxes_[i].similarity(box);
    // cppcheck-suppress containerOutOfBounds ; there is always a first one
    Similarity similarity = detected_start(truth, mean_, boxes_.front(), random);
    if (options_.start_roll > 0) {
      const float angle = options_.start_roll * static_cast<float>(random.normal());
      const float scale = similarity.a;  // it is upright
      similarity.a = scale * std::cos(angle);
      similarity.b = scale * std::sin(angle);
    }
    return similarity;
  }

  TrainOptions descent_options() const {
    TrainOptions options;
    options.stages = static_cast<int>(options_.recipe.stages.size());
    if (options_.held_out_penalty)
      options.penalty = Penalty::held_out(options_.penalties);
    else
      for (const double factor : options_.penalties)
        options.stage_penalties.push_back(Penalty::relative(factor));
    options.folds = options_.folds;
    options.cross_fit = options_.cross_fit;
    options.pca_energy = options_.pca_energy;
    options.rank = options_.rank;
    options.rank_tolerance = options_.rank_tolerance;
    if (options_.robust > 0)
      options.robust_weight = [robust = options_.robust](double error) {
        return robust_weight(error, robust);
      };
    options.seed = options_.seed;
    options.threads = options_.threads;
    options.communicator = options_.communicator;
    return options;
  }

  Similarity dev_frame(std::size_t i) const {
    if (box_of(dev_[i], 0).width > 0) return boxes_.front().similarity(box_of(dev_[i], 0));
    Random random(options_.seed, "dev starts", i);
    return detected_start(complete(dev_[i].truth, mean_), mean_, boxes_.front(), random);
  }

  double dev_error_of(const Model& model) const {
    Aligner aligner(model);
    double sum = 0;
    for (std::size_t i = 0; i < dev_.size(); ++i)
      sum += face_error(aligner.align_from(dev_[i].picture, dev_frame(i)).points, dev_[i].truth);
    return sum / static_cast<double>(dev_.size());
  }

  void prepare_dev(TrainedFace& result) {
    std::vector<Index> order(dev_.size());
    std::iota(order.begin(), order.end(), Index(0));
    dev_problem_ =
        std::make_unique<FaceProblem>(dev_, options_.recipe, mean_, options_.mirror, order);
    dev_states_.resize(dev_problem_->state_size(), static_cast<Index>(dev_.size()));
    start_dev();
    result.dev_start_error = mean_dev_error();
  }

  void start_dev() {
    for (std::size_t i = 0; i < dev_.size(); ++i)
      dev_states_.col(static_cast<Index>(i)) = dev_problem_->start(dev_frame(i));
  }

  void advance(const FaceProblem& problem, int stage, const DescentMap<float>& map,
               Matrix<float>& states) {
    pool_.run(states.cols(), [&](Index i, int) {
      StageBuffers<float> buffers(map.feature_size(), map.rank(), map.delta_size(), states.rows());
      stage_update<float>(
          map, stage, states.col(i), buffers,
          [&](int k, const auto& x, auto&& out) { problem.features(i, k, x, out); },
          [&](int k, const auto& x, const auto& delta, auto&& out) {
            problem.step(k, x, delta, out);
          });
    });
  }

  double advance_dev(int stage, const DescentMap<float>& map) {
    advance(*dev_problem_, stage, map, dev_states_);
    return mean_dev_error();
  }

  double mean_dev_error() const {
    double sum = 0;
    Shape points(2, mean_.cols());
    for (std::size_t i = 0; i < dev_.size(); ++i) {
      const auto x = dev_states_.col(static_cast<Index>(i));
      similarity_of(x).to_image(shape_of(x), points);
      sum += face_error(points, dev_[i].truth);
    }
    return sum / static_cast<double>(dev_.size());
  }

  // Mean distance of the known points over the unit of the true shape.
  double face_error(const Shape& points, const Shape& truth) const {
    const auto [a, b] = options_.unit;
    const double length = a >= 0 ? static_cast<double>((truth.col(a) - truth.col(b)).norm()) : 0;
    return length > 0 && std::isfinite(length) ? mean_distance(points, truth) / length
                                               : unit_error(points, truth, mean_);
  }

  Confidence confidence(const Model& model, const TrainerObserver& observer) {
    return learn_confidence(model, faces(), options_.seed, pool_,
                            telling(observer, "learning the score"), options_.communicator);
  }

  // Progress of what comes after the last stage.
  std::function<void(double share)> telling(const TrainerObserver& observer,
                                            const char* activity) const {
    if (!observer.progress) return {};
    using Clock = std::chrono::steady_clock;
    return [this, &observer, activity, begin = Clock::now()](double share) {
      const int stages = static_cast<int>(options_.recipe.stages.size());
      const auto count = static_cast<Index>(faces().size());
      const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
      observer.progress({stages - 1, stages, static_cast<Index>(share * static_cast<double>(count)),
                         count, activity, share > 0 ? spent * (1 - share) / share : 0});
    };
  }

  // Three times the median of what the last stage still moves in faces: half then score above 0.9.
  float typical_step(const Model& model) {
    ShapeDescent descent(model);
    std::vector<float> steps;
    const auto all = ranks_.share_of(static_cast<Index>(faces().size())).all;
    const auto stride = static_cast<std::size_t>(std::max<Index>(1, all / 200));
    ranks_.together([&] {
      for (std::size_t i = 0; i < faces().size(); i += stride) {
        const Shape truth = complete(faces()[i].truth, mean_);
        steps.push_back(descent.run(faces()[i].picture,
                                    start(faces()[i], truth, 0, Random(options_.seed, "step", i))));
      }
    });
    steps = ranks_.gather(steps);
    std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2),
                     steps.end());
    return std::max(3 * steps[steps.size() / 2], 1e-4F);
  }

  const std::vector<TrainingFace>&own_, &dev_;
  const TrainerOptions& options_;
  ThreadPool pool_;
  detail::Ranks ranks_;
  const detail::Ranks::Share share_;        // of the faces of all ranks
  const KnownFaces known_;                  // of all ranks
  const std::vector<TrainingFace> turned_;  // with turned copies, where there are any
  std::vector<TrainingFace> fresh_;         // those of the stage at hand, where they are new
  Shape mean_;
  std::vector<BoxConvention> boxes_;
  std::vector<std::size_t> detector_of_;  // for each of boxes_, its place in options_.detectors
  std::unique_ptr<FaceProblem> dev_problem_;
  Matrix<float> dev_states_;
};

}  // namespace

TrainingFace trim(image::ByteView grey, const Shape& truth, std::vector<Box> boxes,
                  const Recipe& recipe, bool whole) {
  const Eigen::AlignedBox2f around = bounds(truth);
  if (around.isEmpty()) throw Error("a face has no known points");
  const Eigen::Vector2f centre = 0.5F * (around.min() + around.max());
  const float half = around.sizes().maxCoeff();
  const auto clamp = [](float v, int size) {
    return static_cast<int>(std::clamp(v, 0.0F, static_cast<float>(size)));
  };
  // The landmark box is about 1.6 units large.
  constexpr int kMostShrunk = 256;
  int factor = 1;
  while (factor < kMostShrunk && half / 1.6F >= 2 * static_cast<float>(factor) * recipe.unit)
    factor *= 2;
  const int x0 = whole ? 0 : clamp(std::floor(centre.x() - half), grey.width),
            y0 = whole ? 0 : clamp(std::floor(centre.y() - half), grey.height);
  int width = whole ? grey.width : clamp(std::ceil(centre.x() + half) + 1, grey.width) - x0,
      height = whole ? grey.height : clamp(std::ceil(centre.y() + half) + 1, grey.height) - y0;
  width = width / factor * factor;
  height = height / factor * factor;
  if (width < factor || height < factor) throw Error("a face lies outside its picture");

  TrainingFace face;
  face.picture = image::Image<std::uint8_t>(width / factor, height / factor);
  image::shrink(grey.crop(x0, y0, width, height), factor, face.picture);
  // The centre of a shrunk pixel is the middle of those it stands for.
  const float f = static_cast<float>(factor), off = 0.5F * (f - 1);
  const auto to = [&](float v, int origin) { return (v - static_cast<float>(origin) - off) / f; };
  face.truth = truth;
  for (Index p = 0; p < truth.cols(); ++p)
    face.truth.col(p) << to(truth(0, p), x0), to(truth(1, p), y0);
  for (Box& box : boxes) {
    const float cx = to(box.x + 0.5F * (box.width - 1), x0),
                cy = to(box.y + 0.5F * (box.height - 1), y0);
    const float w = box.width / f, h = box.height / f;
    box = {cx - 0.5F * (w - 1), cy - 0.5F * (h - 1), w, h};
  }
  face.boxes = std::move(boxes);
  return face;
}

std::vector<double> held_out_errors(const std::vector<TrainingFace>& faces,
                                    const TrainerOptions& options) {
  return Trainer(faces, {}, options).held_out_errors();
}

TrainedFace train(const std::vector<TrainingFace>& faces, const std::vector<TrainingFace>& dev,
                  const TrainerOptions& options, const TrainerObserver& observer) {
  return Trainer(faces, dev, options).run(observer);
}

}  // namespace sdm::face
