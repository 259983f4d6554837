#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/sdm/annotations.h"
#include "apps/sdm/commands.h"
#include "apps/sdm/faces.h"
#include "apps/sdm/numbers.h"
#include "apps/sdm/output.h"
#include "apps/sdm/progress.h"
#include "apps/sdm/shipped_model.h"
#include "report/plot.h"
#include "report/results.h"
#include "sdm/base/error.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/adaptation.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/data/read_pictures.h"
#include "sdm/face/data/sense.h"
#include "sdm/face/detector.h"
#include "sdm/face/train/adaptation_learner.h"
#include "sdm/face/train/train_confidence.h"
#include "sdm/face/train/train_on_base.h"
#include "sdm/face/train/trainer.h"
#include "sdm/opencv/image.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;

struct TrainArguments {
  fs::path truth, boxes, dev, dev_boxes, output, plot, score_of, images;
  std::string finder, base;
  std::string preset = "accurate", mirror = "auto", normalisation;
  std::vector<std::string> detectors;
  bool skip_bad = false, no_subpixel = false, no_cross_fit = false, held_out_penalty = false,
       adaptation = false, strict = false;
  // Given values override the preset's.
  std::optional<float> unit, canvas, shape_weight, outline_scale;
  std::vector<int> cells;
  std::vector<float> cell;
  std::optional<int> redraws, starts, box_starts, folds;
  std::vector<double> penalties;
  std::optional<double> pca_energy, rank_tolerance, robust;
  std::optional<Index> rank;
  std::uint64_t seed = 1;
  int threads = 0;
  std::string checkpoint, name, provenance, licence = "as the training data's";
};

// What the points of the training faces are, which those of others must be, too.
struct TrainedPoints {
  std::vector<int> ids;
  std::vector<std::string> names;
};

// Every fold needs a picture, and every point must have been seen in as many.
void require_enough(const face::Annotations& annotations, const fs::path& truth,
                    const face::TrainerOptions& options) {
  try {
    face::require_enough(annotations, static_cast<std::size_t>(std::max(2, options.folds)));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", truth.string(), error.what()));
  }
}

// The boxes that a detector of our own finds, one detector a thread.
class Finder {
 public:
  Finder(const std::string& name, int threads)
      : model_(load_detector(name)), detectors_(static_cast<std::size_t>(threads)) {}

  /// The box that covers the points best; without width where none lies on them. No landmark model
  /// verifies: the one that will is not trained yet.
  face::Box find(image::ByteView grey, const face::Shape& points, int thread) {
    auto& detector = detectors_[static_cast<std::size_t>(thread)];
    if (!detector) {
      face::DetectorOptions options;
      options.min_score = 0;
      options.smallest = kSmallest;
      detector.emplace(model_, options);
    }
    std::vector<face::Box> boxes;
    for (const face::DetectedFace& found : detector->detect(grey)) boxes.push_back(found.box);
    face::Annotation face;
    face.points = points;
    face::give_box(face, boxes);
    const Eigen::AlignedBox2f around = face::bounds(points);
    if (!face.box || !around.contains(Eigen::Vector2f(face.box->x + 0.5F * face.box->width,
                                                      face.box->y + 0.5F * face.box->height)))
      return {};
    return *face.box;
  }

 private:
  static constexpr float kSmallest = 20;
  face::DetectorModel model_;
  std::vector<std::optional<face::Detector>> detectors_;
};

// With the boxes of a file, or those that the annotations have; those of a detector of our own come
// first.
std::vector<face::TrainingFace> read_faces(const TrainArguments& arguments, const fs::path& truth,
                                           const std::optional<face::BoxTable>& table,
                                           const face::TrainerOptions& options,
                                           TrainedPoints& points, Finder* finder = nullptr) {
  face::Annotations annotations =
      face::read_annotations(truth, read_options(arguments.skip_bad, arguments.images));
  for (const std::string& skipped : annotations.skipped)
    fmt::print(stderr, "skipped: {}\n", skipped);
  const std::vector<std::string> names = face::point_names(annotations);
  if (points.ids.empty()) {
    points = {annotations.ids, names};
    require_enough(annotations, truth, options);
  }
  face::require_same_points(names, truth.string(), points.names, arguments.truth.string());
  if (points.ids != annotations.ids)
    throw Error(
        fmt::format("{} has other points than {}", truth.string(), arguments.truth.string()));
  std::vector<std::vector<face::Box>> boxes;
  if (table) {
    const auto first = options.detectors.begin() + (finder ? 1 : 0);
    boxes = face::boxes_of(annotations, *table, {first, options.detectors.end()});
  } else {
    for (const face::Annotation& one : annotations.faces)
      boxes.push_back({one.box.value_or(face::Box{})});
  }
  for (std::size_t i = 0; i < boxes.size(); ++i)  // as the model will start from them
    if (!boxes[i].empty() && boxes[i][0].width > 0) annotations.faces[i].box = boxes[i][0];
  report_sense(annotations, arguments.strict, arguments.threads);
  std::vector<face::TrainingFace> faces(annotations.faces.size());
  Progress progress("reading " + truth.filename().string());
  std::vector<fs::path> files;
  for (const face::Annotation& one : annotations.faces) files.push_back(annotations.path(one));
  face::PictureWork work;
  work.progress = [&](double share) { progress.update(share); };
  work.in_parallel = [&](std::size_t i, image::ByteView grey, int thread) {
    if (finder)
      boxes[i].insert(boxes[i].begin(), finder->find(grey, annotations.faces[i].points, thread));
    faces[i] = face::trim(grey, annotations.faces[i].points, boxes[i], options.recipe);
  };
  ThreadPool pool(arguments.threads);
  const std::vector<std::string> failures =
      face::read_pictures(files, opencv::read_grey, pool, work);
  progress.clear();
  std::vector<face::TrainingFace> good;
  for (std::size_t i = 0; i < faces.size(); ++i) {
    if (failures[i].empty()) {
      good.push_back(std::move(faces[i]));
      continue;
    }
    if (!arguments.skip_bad) throw Error(failures[i]);
    fmt::print(stderr, "skipped: {}\n", failures[i]);
  }
  return good;
}

std::optional<face::BoxTable> read_table(const fs::path& path) {
  if (path.empty()) return std::nullopt;
  return face::read_box_table(path);
}

image::Normalisation normalisation_of(const std::string& name) {
  if (name == "l2") return image::Normalisation::l2;
  if (name == "l2_hys") return image::Normalisation::l2_hys;
  if (name == "none") return image::Normalisation::none;
  return image::Normalisation::sqrt_l1;
}

face::TrainerOptions options_of(const TrainArguments& a,
                                const std::optional<face::BoxTable>& table) {
  face::TrainerOptions options = face::TrainerOptions::preset(a.preset);
  face::Recipe& recipe = options.recipe;
  const auto override_with = [](auto& target, const auto& given) {
    if (given) target = *given;
  };
  override_with(recipe.unit, a.unit);
  override_with(recipe.canvas, a.canvas);
  override_with(recipe.shape_weight, a.shape_weight);
  if (!a.normalisation.empty()) recipe.normalisation = normalisation_of(a.normalisation);
  if (a.no_subpixel) recipe.subpixel = false;
  if (!a.cell.empty()) {
    const face::StageRecipe last = recipe.stages.back();
    recipe.stages.resize(a.cell.size(), last);
    for (std::size_t i = 0; i < a.cell.size(); ++i) recipe.stages[i].cell = a.cell[i];
  }
  for (std::size_t i = 0; i < recipe.stages.size(); ++i) {
    if (!a.cells.empty()) recipe.stages[i].cells = a.cells[std::min(i, a.cells.size() - 1)];
    if (a.redraws) recipe.stages[i].redraw = static_cast<int>(i) <= *a.redraws;
  }
  override_with(options.starts, a.starts);
  override_with(options.box_starts, a.box_starts);
  override_with(options.folds, a.folds);
  if (a.no_cross_fit) options.cross_fit = false;
  if (!a.penalties.empty()) options.penalties = a.penalties;
  options.held_out_penalty = a.held_out_penalty;
  override_with(options.pca_energy, a.pca_energy);
  override_with(options.rank, a.rank);
  override_with(options.rank_tolerance, a.rank_tolerance);
  override_with(options.robust, a.robust);
  options.seed = a.seed;
  options.threads = a.threads;
  options.checkpoint = a.checkpoint;
  options.name = a.name.empty() ? a.output.stem().string() : a.name;
  options.provenance = a.provenance.empty() ? fmt::format("sdm train {} --preset {}",
                                                          a.truth.filename().string(), a.preset)
                                            : a.provenance;
  options.licence = a.licence;
  if (table) options.detectors = a.detectors.empty() ? table->by_preference() : a.detectors;
  if (!a.finder.empty())
    options.detectors.insert(options.detectors.begin(), fs::path(a.finder).stem().string());
  return options;
}

// What is known of the points: their mirror, and the eye corners whose distance is the unit.
void learn_markup(const TrainArguments& a, const std::vector<int>& ids,
                  face::TrainerOptions& options) {
  const face::Markup markup = face::markup_of(ids);
  options.unit = markup.unit;
  if (a.outline_scale) {
    if (markup.regions.empty())
      throw Error("--outline-scale needs the 68 points or a part of them");
    options.recipe.patch_scale.assign(ids.size(), 1.0F);
    for (const int i : markup.region("jaw"))
      options.recipe.patch_scale[static_cast<std::size_t>(i)] = *a.outline_scale;
  }
  if (a.mirror == "auto") {
    options.mirror = markup.mirror;
  } else if (a.mirror != "none") {
    options.mirror = face::read_mirror(a.mirror);
  }
}

void plot(const fs::path& path, const face::TrainedFace& trained) {
  report::Series train{"training, held out", {0}, {}}, dev{"dev", {0}, {}};
  train.y.push_back(100 * trained.stages.front().stage.error_before);
  dev.y.push_back(100 * trained.dev_start_error);
  for (const face::FaceStage& stage : trained.stages) {
    train.x.push_back(stage.stage.stage + 1);
    train.y.push_back(100 * stage.stage.error_after);
    dev.x.push_back(stage.stage.stage + 1);
    dev.y.push_back(100 * stage.dev_error);
  }
  report::LineChart chart{"Error after each stage", "stage", "error, % of the unit"};
  chart.log_y = true;
  chart.series = {train};
  if (std::isfinite(dev.y.front())) chart.series.push_back(dev);
  report::write_text(path, report::svg({chart}, 1));
}

// Gives a finished model the score of its fits, or another one; its maps stay as they are.
void learn_score(const TrainArguments& arguments) {
  prepare_output(arguments.output);
  face::Model model = face::Model::load(arguments.score_of);
  face::TrainerOptions options;
  options.recipe = model.recipe;
  TrainedPoints points;
  // A score is learned from starts about the true points: no boxes are read.
  const auto faces = read_faces(arguments, arguments.truth, std::nullopt, options, points);
  face::require_same_points(points.names, arguments.truth.string(), model.point_names,
                            arguments.score_of.string());
  for (const face::TrainingFace& face : faces)
    if (face.truth.cols() != model.points())
      throw Error(fmt::format("{}: faces of {} points, expected {} as {} has",
                              arguments.truth.string(), face.truth.cols(), model.points(),
                              arguments.score_of.string()));
  Progress progress("learning the score");
  ThreadPool pool(arguments.threads);
  model.confidence = face::learn_confidence(model, faces, arguments.seed, pool,
                                            [&](double share) { progress.update(share); });
  progress.clear();
  if (!model.confidence.known())
    throw Error(fmt::format("{}: {} faces, too few good or failed fits to learn a score from",
                            arguments.truth.string(), faces.size()));
  model.save(arguments.output);
  fmt::print("wrote {}: the maps of {}, its score learned on {} faces\n", arguments.output.string(),
             arguments.score_of.string(), faces.size());
}

// Other points than a finished model's, from few pictures.
void learn_on_base(const TrainArguments& a) {
  prepare_output(a.output);
  const auto base = std::make_shared<const face::Model>(face::Model::load(model_file(a.base)));
  const auto boxes = read_table(a.boxes);
  face::BaseTrainerOptions options;
  face::TrainerOptions reading = options_of(a, boxes);
  options.unit = a.unit.value_or(options.unit);
  reading.recipe = base->recipe;
  reading.recipe.unit = std::max(reading.recipe.unit, options.unit);
  TrainedPoints points;
  const auto faces = read_faces(a, a.truth, boxes, reading, points);
  options.detectors = reading.detectors;
  options.mirror =
      a.mirror == "auto" || a.mirror == "none" ? std::vector<int>() : face::read_mirror(a.mirror);
  options.find_mirror = a.mirror == "auto";
  options.starts = a.starts.value_or(options.starts);
  options.folds = a.folds.value_or(options.folds);
  options.seed = a.seed;
  options.threads = a.threads;
  options.name = reading.name;
  options.provenance = a.provenance.empty()
                           ? fmt::format("sdm train {} --base {} ({})", a.truth.filename().string(),
                                         fs::path(a.base).filename().string(), base->provenance)
                           : a.provenance;
  options.licence = fmt::format("{}; of the base: {}", a.licence, base->licence);
  fmt::print("{} faces of {} points, on the {} of {}\n", faces.size(), points.ids.size(),
             base->points(), base->name);
  Progress progress("training");
  face::BaseTrainerObserver observer;
  observer.progress = [&](double share, const std::string& activity) {
    progress.update(share, activity);
  };
  observer.stage = [&](const face::BaseStage& at) {
    progress.clear();
    fmt::print("{}: held out {:.3f} -> {:.3f} % of the unit  (penalty {:.3g}){}\n",
               at.cell > 0 ? fmt::format("stage with cells of {:.3g} units", at.cell)
                           : "map from the base's points",
               100 * at.error_before, 100 * at.error_after, at.penalty,
               at.kept ? "" : ": not kept");
    std::fflush(stdout);
  };
  face::TrainedOnBase trained = face::train_on_base(faces, base, options, observer);
  progress.clear();
  trained.model.point_names = points.names;
  trained.model.save(a.output);
  if (trained.lost > 0)
    fmt::print("the base does not find {} of the faces (score below 0.5)\n", trained.lost);
  if (!trained.shape3d_message.empty())
    fmt::print("no head pose, the points in space are not known: {}\n", trained.shape3d_message);
  fmt::print("wrote {} ({:.2f} MB{}): held-out error {:.3f} % of the unit\n", a.output.string(),
             static_cast<double>(fs::file_size(a.output)) / 1e6,
             trained.model.mirror.empty() ? "" : ", mirrored", 100 * trained.error());
}

void run(const TrainArguments& arguments) {
  const fs::path chart = arguments.plot.empty()
                             ? fs::path(arguments.output).replace_extension("training.svg")
                             : arguments.plot;
  prepare_output(arguments.output);
  prepare_output(chart);
  const auto boxes = read_table(arguments.boxes);
  face::TrainerOptions options = options_of(arguments, boxes);
  options.validate();
  TrainedPoints points;
  std::optional<Finder> finder;
  if (!arguments.finder.empty())
    finder.emplace(arguments.finder, ThreadPool(arguments.threads).threads());
  Finder* const find = finder ? &*finder : nullptr;
  const auto faces = read_faces(arguments, arguments.truth, boxes, options, points, find);
  const std::vector<int>& ids = points.ids;
  options.point_names = points.names;
  std::vector<face::TrainingFace> dev;
  if (!arguments.dev.empty()) {
    const bool beside = arguments.dev_boxes.empty() && boxes;
    const auto dev_boxes =
        read_table(beside ? face::boxes_beside(arguments.dev) : arguments.dev_boxes);
    dev = read_faces(arguments, arguments.dev, dev_boxes, options, points, find);
  }
  learn_markup(arguments, ids, options);
  fmt::print("{} faces of {} points, {} starts each; {} dev faces; {} stages{}\n", faces.size(),
             ids.size(), options.starts, dev.size(), options.recipe.stages.size(),
             options.mirror.empty() ? "" : "; mirrored");

  Progress progress("training");
  const auto start = std::chrono::steady_clock::now();
  face::TrainerObserver observer;
  observer.estimate = [&](const TrainEstimate& estimate) {
    fmt::print("expect {:.0f} s and {:.1f} GB\n", estimate.seconds, estimate.bytes / 1e9);
    std::fflush(stdout);
  };
  observer.progress = [&](const TrainProgress& at) {
    const double spent =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    progress.update(spent / (spent + at.seconds_left),
                    fmt::format("stage {} of {}, {}", at.stage + 1, at.stages, at.activity));
  };
  observer.stage = [&](const face::FaceStage& at) {
    progress.clear();
    fmt::print("stage {}: train {:.3f} -> {:.3f} %", at.stage.stage + 1,
               100 * at.stage.error_before, 100 * at.stage.error_after);
    if (std::isfinite(at.dev_error)) fmt::print(", dev {:.3f} %", 100 * at.dev_error);
    fmt::print("  (penalty {:.3g}, rank {}, {:.1f} s)\n", at.stage.penalty_factor,
               at.stage.rank > 0 ? std::to_string(at.stage.rank) : "whole", at.stage.seconds);
    std::fflush(stdout);
  };
  const face::TrainedFace trained = face::train(faces, dev, options, observer);
  progress.clear();
  trained.model.save(arguments.output);
  plot(chart, trained);
  if (arguments.adaptation) {
    face::AdaptationLearner learner(trained.model);
    for (const face::TrainingFace& face : faces) learner.add(face.picture, face.truth);
    learner.finish().save(face::Adaptation::beside(arguments.output));
  }
  if (!arguments.checkpoint.empty()) fs::remove(arguments.checkpoint);
  fmt::print("{}\n", trained.summary.brief_report());
  for (const face::BoxConvention& box : trained.model.boxes)
    fmt::print("boxes of {}: unit {:.4f} widths, centre + ({:.4f}, {:.4f}) widths\n", box.detector,
               box.scale, box.dx, box.dy);
  if (!trained.shape3d_message.empty())
    fmt::print("no head pose, the points in space are not known: {}\n", trained.shape3d_message);
  if (!dev.empty())
    fmt::print("dev error of the stored model: {:.3f} % of {}\n", 100 * trained.dev_error,
               options.unit.first < 0 ? "the unit" : "the outer eye corners' distance");
  fmt::print("wrote {} ({:.2f} MB) and {}\n", arguments.output.string(),
             static_cast<double>(fs::file_size(arguments.output)) / 1e6, chart.string());
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "Train a landmark model on annotated pictures");
  auto a = std::make_shared<TrainArguments>();
  command
      ->add_option("ANNOTATIONS", a->truth, "Landmarks: .csv, .pts or a folder, .tps, .xml, list")
      ->required();
  command->add_option("-o,--output", a->output, "The model file to write")->required();
  command->add_option("--boxes", a->boxes, "CSV of detectors' boxes; else those of ANNOTATIONS");
  command
      ->add_option("--detectors", a->detectors,
                   "Columns of the boxes file, the default one first; else all, haar_alt2 first")
      ->delimiter(',');
  command->add_option("--detector", a->finder,
                      "Train from the boxes that this detector finds in the pictures, before all "
                      "others: sdm (ours, of faces) or the file of one trained by train-detector");
  command->add_option("--dev", a->dev, "Annotations to measure on, never trained on");
  command->add_option("--dev-boxes", a->dev_boxes, "Their boxes; else DEV_boxes.csv beside them");
  command->add_option("--preset", a->preset, "The recipe to start from")
      ->check(CLI::IsMember({"accurate", "fast", "paper"}))
      ->capture_default_str();
  command
      ->add_option("--mirror", a->mirror,
                   "auto (known for the 68 points), none, or a file with each point's partner")
      ->capture_default_str();
  command->add_option("--images", a->images, kImagesHelp);
  command->add_flag("--skip-bad", a->skip_bad, "Go on after bad lines and pictures, telling which");
  command->add_flag("--strict", a->strict, kStrictHelp);
  command->add_flag("--adaptation", a->adaptation,
                    "Also write the state that `sdm adapt` needs, MODEL.adaptation.sdm");
  command->add_option(
      "--score-of", a->score_of,
      "Train no maps: take this model's and learn the score of its fits anew; of the "
      "other options only -o, --skip-bad, --seed and --threads count then");
  command->add_option(
      "--base", a->base,
      "Learn these points, from few pictures, as an addition to this model's of other points; of "
      "the other options only -o, --boxes, --detectors, --mirror (auto finds it), --skip-bad, "
      "--unit, --starts, --folds, --seed, --threads and the file's own words count then");
  command->add_option("--plot", a->plot, "Chart of the errors; else beside the model");

  const std::string look = "What a stage sees";
  command->add_option("--unit", a->unit, "Canvas pixels between the outer eye corners")
      ->group(look);
  command->add_option("--canvas", a->canvas, "Side of the canvas in units")->group(look);
  command->add_option("--cells", a->cells, "Cells a side of a patch, one number or one a stage")
      ->delimiter(',')
      ->group(look);
  command->add_option("--cell", a->cell, "Side of a cell in pixels, one a stage: sets the stages")
      ->delimiter(',')
      ->group(look);
  command
      ->add_option("--redraws", a->redraws, "How often the face is drawn anew, early stages first")
      ->group(look);
  command
      ->add_option("--outline-scale", a->outline_scale, "Patches on the jaw are this much larger")
      ->group(look);
  command->add_option("--shape-weight", a->shape_weight, "Weight of the shape as features")
      ->group(look);
  command->add_option("--normalisation", a->normalisation, "Of a patch")
      ->check(CLI::IsMember({"none", "l2", "l2_hys", "sqrt_l1"}))
      ->group(look);
  command->add_flag("--no-subpixel", a->no_subpixel, "Patches on whole pixels")->group(look);

  const std::string learn = "How it learns";
  command->add_option("--starts", a->starts, "Starts of each face")->group(learn);
  command->add_option("--box-starts", a->box_starts, "How many of them from detectors' boxes")
      ->group(learn);
  command->add_option("--folds", a->folds, "Parts for held-out errors")->group(learn);
  command->add_flag("--no-cross-fit", a->no_cross_fit, "Move faces by the map that saw them")
      ->group(learn);
  command->add_option("--penalties", a->penalties, "Ridge penalty of each stage")
      ->delimiter(',')
      ->group(learn);
  command
      ->add_flag("--held-out-penalty", a->held_out_penalty,
                 "Choose each stage's penalty among these by held-out error")
      ->group(learn);
  command->add_option("--pca", a->pca_energy, "Share of the features' energy kept")->group(learn);
  command->add_option("--rank", a->rank, "Largest rank of a map; 0: whole")->group(learn);
  command
      ->add_option("--rank-tolerance", a->rank_tolerance,
                   "Take a smaller rank if held-out error grows by no more than this share")
      ->group(learn);
  command->add_option("--robust", a->robust, "Faces farther off than this count less; 0: all alike")
      ->group(learn);
  command->add_option("--seed", a->seed, "Seed of every random draw")
      ->capture_default_str()
      ->group(learn);
  command->add_option("--threads", a->threads, "Threads; 0 takes all cores")
      ->check(kNotNegative)
      ->capture_default_str()
      ->group(learn);
  command->add_option("--checkpoint", a->checkpoint,
                      "Written after every stage; if it is there, training goes on from it");

  const std::string card = "What the file says of itself";
  command->add_option("--name", a->name)->group(card);
  command->add_option("--provenance", a->provenance)->group(card);
  command->add_option("--licence", a->licence)->capture_default_str()->group(card);
  command->callback([a] {
    if (!a->base.empty()) return learn_on_base(*a);
    a->score_of.empty() ? run(*a) : learn_score(*a);
  });
}

}  // namespace sdm::app
