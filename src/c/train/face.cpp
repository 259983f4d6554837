#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/formatted.h"
#include "c/model.h"
#include "c/picture.h"
#include "c/train/progress.h"
#include "sdm/face/aligner.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/evaluation.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/train/adaptation_learner.h"
#include "sdm/face/train/choose_options.h"
#include "sdm/face/train/train_on_base.h"
#include "sdm/face/train/trainer.h"

namespace sdm::c {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// The labelled pictures as the caller has them.
struct Labelled {
  std::int32_t count, points;
  const sdm_image* images;
  const float *xy, *boxes;

  void check() const {
    if (count < 1) throw Error(std::to_string(count) + " faces, expected some");
    if (points < 1) throw Error(std::to_string(points) + " points a face, expected some");
    require(images, "images");
    require(xy, "xy");
  }
  face::Shape truth(std::int32_t i) const {
    return Eigen::Map<const face::Shape>(xy + std::ptrdiff_t{2} * i * points, 2, points);
  }
  face::Box box(std::int32_t i) const {
    if (boxes == nullptr)
      return {0, 0, static_cast<float>(images[i].width), static_cast<float>(images[i].height)};
    const float* b = boxes + std::ptrdiff_t{4} * i;
    return {b[0], b[1], b[2], b[3]};
  }
};

std::vector<face::TrainingFace> training_faces(const Labelled& labelled,
                                               const face::Recipe& recipe) {
  std::vector<face::TrainingFace> faces;
  Picture picture;
  for (std::int32_t i = 0; i < labelled.count; ++i) {
    try {
      faces.push_back(face::trim(picture.grey(&labelled.images[i]), labelled.truth(i),
                                 {labelled.box(i)}, recipe, labelled.boxes == nullptr));
    } catch (const Error& error) {
      throw Error("face " + std::to_string(i) + ": " + error.what());
    }
  }
  return faces;
}

/// What is known of so many points, where they are iBUG's.
face::Markup markup_of(const sdm_face_train_options& o, std::int32_t points) {
  const bool known = points == 68 || points == 66 || points == 51 || points == 49;
  if (o.ibug == 1 || (o.ibug == 0 && o.mirror == nullptr && o.base == nullptr && known))
    return face::ibug(points);
  return {};
}

std::vector<int> mirror_of(const sdm_face_train_options& o, std::int32_t points,
                           const face::Markup& markup) {
  if (o.mirror == nullptr) return markup.mirror;
  return {o.mirror, o.mirror + points};
}

// Pictures are shrunk to what is looked at; the more there are the smaller, to fit in memory.
float finest_unit(std::int32_t pictures) {
  return pictures > 2000 ? 70.0F : pictures > 500 ? 140.0F : face::kFinestUnit;
}

struct Trained {
  face::Model model;
  std::string report;
};

Trained train_on_base(const Labelled& labelled, const sdm_face_train_options& o,
                      const std::string& detector, const Progress& progress) {
  const auto base = face_of(o.base, "the base");
  face::BaseTrainerOptions options;
  options.detectors = {detector};
  options.mirror = mirror_of(o, labelled.points, {});
  options.find_mirror = o.mirror == nullptr && o.ibug != -1;
  if (o.folds > 0) options.folds = o.folds;
  options.seed = o.seed;
  options.threads = o.threads;
  options.name = text_or(o.name, "face");
  options.provenance = text_or(o.provenance, "");
  options.licence =
      formatted("{}; of the base: {}", text_or(o.licence, "as the training data's"), base->licence);
  face::Recipe recipe = base->recipe;
  recipe.unit = std::max(recipe.unit, options.unit);
  face::BaseTrainerObserver observer;
  observer.progress = [&](double share, const std::string& activity) {
    progress(activity.c_str(), share, kUnknown);
  };
  const face::TrainedOnBase trained =
      face::train_on_base(training_faces(labelled, recipe), base, options, observer);
  return {trained.model,
          formatted("{} points on the {} of {}: held-out error {:.3f} % of the unit; the base does "
                    "not find {} of {} faces",
                    labelled.points, base->points(), base->name, 100 * trained.error(),
                    trained.lost, labelled.count)};
}

Trained train_alone(const Labelled& labelled, const sdm_face_train_options& o,
                    const std::string& detector, const Progress& progress) {
  const face::Markup markup = markup_of(o, labelled.points);
  face::TrainerOptions options = face::TrainerOptions::preset(
      text_or(o.preset, "accurate"), o.preset == nullptr ? face::FaceParts() : markup.parts());
  options.mirror = mirror_of(o, labelled.points, markup);
  options.unit = o.unit[0] >= 0 ? face::UnitPoints{o.unit[0], o.unit[1]} : markup.unit;
  options.outline = markup.region("jaw");
  options.detectors = {detector};
  if (o.folds > 0) options.folds = o.folds;
  options.seed = o.seed;
  options.threads = o.threads;
  options.name = text_or(o.name, "face");
  options.provenance = text_or(o.provenance, "");
  options.licence = text_or(o.licence, "as the training data's");
  face::Recipe recipe = options.recipe;
  if (o.preset == nullptr) recipe.unit = finest_unit(labelled.count);
  const std::vector<face::TrainingFace> faces = training_faces(labelled, recipe);
  std::string report;
  // Choosing takes what it is given, training about as long again.
  double before = 0;
  if (o.preset == nullptr) {
    face::ChoiceOptions choosing;
    choosing.seconds = o.budget;
    choosing.progress = [&](double share) { progress("choosing", 0.5 * share, kUnknown); };
    const face::Choice choice = face::choose_options(faces, options, choosing);
    options = choice.options;
    report = formatted("chosen among {} settings by held-out error: {}\n", choice.tried.size(),
                       choice.text);
    before = 0.5;
  }
  face::TrainerObserver observer;
  observer.progress = [&, start = std::chrono::steady_clock::now()](const TrainProgress& at) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    const double share = spent.count() / (spent.count() + at.seconds_left);
    progress(at.activity, before + (1 - before) * share, at.seconds_left);
  };
  const face::TrainedFace trained = face::train(faces, {}, options, observer);
  report += formatted("{} faces of {} points; held-out error {:.3f} % of the unit after {} stages",
                      labelled.count, labelled.points,
                      100 * trained.stages[trained.model.maps.size() - 1].held_out_error,
                      trained.model.maps.size());
  if (!trained.shape3d_message.empty())
    report += "\nno head pose, the points in space are not known: " + trained.shape3d_message;
  return {trained.model, report};
}

}  // namespace
}  // namespace sdm::c

using sdm::c::guarded;
using sdm::c::options_of;
using sdm::c::require;

void sdm_face_train_options_init(sdm_face_train_options* options) {
  *options = {};
  options->size = sizeof(*options);
  options->budget = sdm::face::ChoiceOptions().seconds;
  options->unit[0] = options->unit[1] = -1;
  options->seed = sdm::face::TrainerOptions().seed;
}

sdm_status sdm_face_train(int32_t count, const sdm_image* images, int32_t points, const float* xy,
                          const float* boxes, const sdm_face_train_options* options,
                          sdm_model** model, char** report) {
  return guarded([&] {
    const sdm::c::Labelled labelled{count, points, images, xy, boxes};
    labelled.check();
    require(model, "model");
    const sdm_face_train_options o = options_of(options, sdm_face_train_options_init);
    const sdm::c::Progress progress(o.progress, o.progress_user);
    if (!(o.budget >= 0))
      throw sdm::Error(sdm::formatted("the budget is {} s, expected 0 or more", o.budget));
    if (o.folds < 0) throw sdm::Error(sdm::formatted("{} folds, expected 0 or more", o.folds));
    const std::string detector = boxes == nullptr ? sdm::face::kWholePicture : "box";
    sdm::c::Trained trained = o.base != nullptr
                                  ? sdm::c::train_on_base(labelled, o, detector, progress)
                                  : sdm::c::train_alone(labelled, o, detector, progress);
    std::unique_ptr<sdm_model> made(sdm::c::make_model_of(std::move(trained.model)));
    if (report != nullptr) *report = sdm::c::copy_text(trained.report);
    *model = made.release();
  });
}

sdm_status sdm_face_adaptation(const sdm_model* model, int32_t count, const sdm_image* images,
                               const float* xy, sdm_model** state) {
  return guarded([&] {
    const auto face = sdm::c::face_of(model, "the model");
    const sdm::c::Labelled labelled{count, static_cast<int32_t>(face->points()), images, xy,
                                    nullptr};
    labelled.check();
    require(state, "state");
    sdm::face::AdaptationLearner learner(*face);
    sdm::c::Picture picture;
    for (int32_t i = 0; i < count; ++i) learner.add(picture.grey(&images[i]), labelled.truth(i));
    *state = sdm::c::make_model_of(learner.finish());
  });
}

sdm_status sdm_face_evaluate(const sdm_model* model, int32_t count, const sdm_image* images,
                             const float* xy, const float* boxes, int32_t normaliser,
                             double threshold, double* errors, double* point_errors, float* found,
                             sdm_face_evaluation* evaluation) {
  return guarded([&] {
    const auto face = sdm::c::face_of(model, "the model");
    const auto points = static_cast<int32_t>(face->points());
    const sdm::c::Labelled labelled{count, points, images, xy, boxes};
    labelled.check();
    require(evaluation, "evaluation");
    if (normaliser < SDM_OUTER_EYES || normaliser > SDM_PIXELS)
      throw sdm::Error("the normaliser is " + std::to_string(normaliser) +
                       ", expected SDM_OUTER_EYES, _EYE_CENTRES, _BOX_DIAGONAL or _PIXELS");
    const sdm::face::BoxConvention& convention = face->convention();
    if (boxes == nullptr && convention.detector != sdm::face::kWholePicture)
      throw sdm::Error("the model starts from boxes of '" + convention.detector +
                       "', and none are given");
    sdm::face::Annotations truth, predictions;
    for (int32_t id = 0; id < points; ++id) truth.ids.push_back(id);
    predictions.ids = truth.ids;
    sdm::face::Aligner aligner(*face);
    sdm::c::Picture picture;
    for (int32_t i = 0; i < count; ++i) {
      truth.faces.push_back({std::to_string(i), labelled.truth(i), {}});
      const sdm::face::Box box = labelled.box(i);
      sdm::face::Shape answer;  // without columns: no prediction
      if (box.width > 0) answer = aligner.align(picture.grey(&images[i]), box, convention).points;
      predictions.faces.push_back({std::to_string(i), std::move(answer), {}});
    }
    const sdm::face::Evaluation result = sdm::face::evaluate(
        truth, predictions, {static_cast<sdm::face::Normaliser>(normaliser), {}, threshold});
    if (errors != nullptr) std::copy(result.errors.begin(), result.errors.end(), errors);
    if (point_errors != nullptr)
      std::copy(result.point_errors.begin(), result.point_errors.end(), point_errors);
    if (found != nullptr)
      for (int32_t i = 0; i < count; ++i) {
        Eigen::Map<sdm::face::Shape> out(found + std::ptrdiff_t{2} * i * points, 2, points);
        const sdm::face::Shape& answer = predictions.faces[static_cast<std::size_t>(i)].points;
        if (answer.cols() == points)
          out = answer;
        else
          out.setConstant(std::numeric_limits<float>::quiet_NaN());
      }
    *evaluation = {result.mean, result.median,    result.failure_rate,
                   result.auc,  result.threshold, count};
  });
}
