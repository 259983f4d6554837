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
#include "apps/sdm/cross_validation.h"
#include "apps/sdm/faces.h"
#include "apps/sdm/numbers.h"
#include "apps/sdm/output.h"
#include "apps/sdm/progress.h"
#include "apps/sdm/rendering.h"
#include "apps/sdm/shipped_model.h"
#include "apps/sdm/tell.h"
#include "apps/sdm/training_set.h"
#include "apps/sdm/world.h"
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
#include "sdm/face/train/choose_options.h"
#include "sdm/face/train/cross_validate.h"
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
  std::string preset, mirror = "auto", normalisation;
  double budget = 60;
  int cross_validate = 0;
  Index rendered = 0;  // faces to draw in place of annotated pictures
  bool fresh = false;  // others for every stage
  RenderingArguments rendering;

  std::vector<std::string> detectors;
  bool skip_bad = false, no_subpixel = false, no_cross_fit = false, held_out_penalty = false,
       adaptation = false, strict = false, no_parts = false, no_label_offset = false;
  // Given values override the preset's.
  std::optional<float> unit, canvas, shape_weight, outline_scale;
  std::vector<int> cells;
  std::vector<float> cell;
  std::optional<int> redraws, starts, box_starts, folds;
  int turned = 0;
  double turned_weight = face::TrainerOptions().turned_weight;
  std::vector<double> penalties;
  std::optional<double> pca_energy, rank_tolerance, robust;
  std::optional<Index> rank;
  std::uint64_t seed = 1;
  int threads = 0;
  std::string checkpoint, name, provenance, licence = "as the training data's";

  /// Nothing about the recipe was said.
  bool automatic() const {
    return preset.empty() && normalisation.empty() && cells.empty() && cell.empty() &&
           penalties.empty() && !no_subpixel && !no_parts && !no_cross_fit && !held_out_penalty &&
           !unit && !canvas && !shape_weight && !outline_scale && !redraws && !starts &&
           !box_starts && !folds && !pca_energy && !rank_tolerance && !robust && !rank;
  }
};

// Every fold needs a picture, and every point must have been seen in as many.
void require_enough(const face::Annotations& annotations, const fs::path& truth, int folds) {
  try {
    face::require_enough(annotations, static_cast<std::size_t>(std::max(2, folds)));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", truth.string(), error.what()));
  }
}

TrainingSetOptions reading_of(const TrainArguments& a) {
  TrainingSetOptions options;
  options.images = a.images;
  options.skip_bad = a.skip_bad;
  options.strict = a.strict;
  options.threads = a.threads;
  return options;
}

std::optional<face::BoxTable> read_table(const fs::path& path) {
  if (path.empty()) return std::nullopt;
  return face::read_box_table(path);
}

std::optional<BoxFinder> finder_of(const TrainArguments& a) {
  if (a.finder.empty()) return std::nullopt;
  return BoxFinder(a.finder, ThreadPool(a.threads).threads());
}

image::Normalisation normalisation_of(const std::string& name) {
  if (name == "l2") return image::Normalisation::l2;
  if (name == "l2_hys") return image::Normalisation::l2_hys;
  if (name == "none") return image::Normalisation::none;
  return image::Normalisation::sqrt_l1;
}

// Where a model comes from if nobody says it.
std::string told_of(const TrainArguments& a) {
  const std::string from =
      a.rendered > 0 ? fmt::format("--rendered {}{}", a.rendered, a.fresh ? " --fresh" : "")
                     : a.truth.filename().string();
  return fmt::format("sdm train {}{}", from, a.preset.empty() ? "" : " --preset " + a.preset);
}

face::TrainerOptions options_of(const TrainArguments& a, const std::optional<face::BoxTable>& table,
                                const face::FaceParts& parts = {}) {
  face::TrainerOptions options =
      face::TrainerOptions::preset(a.preset.empty() ? "accurate" : a.preset, parts);
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
  options.turned = a.turned;
  options.turned_weight = a.turned_weight;
  override_with(options.folds, a.folds);
  if (a.no_cross_fit) options.cross_fit = false;
  if (!a.penalties.empty()) options.penalties = a.penalties;
  options.held_out_penalty = a.held_out_penalty;
  options.label_offset = !a.no_label_offset;
  override_with(options.pca_energy, a.pca_energy);
  override_with(options.rank, a.rank);
  override_with(options.rank_tolerance, a.rank_tolerance);
  override_with(options.robust, a.robust);
  options.seed = a.seed;
  options.threads = a.threads;
  options.checkpoint = a.checkpoint;
  options.name = a.name.empty() ? a.output.stem().string() : a.name;
  options.provenance = a.provenance.empty() ? told_of(a) : a.provenance;
  options.licence = a.licence;
  if (table) options.detectors = a.detectors.empty() ? table->by_preference() : a.detectors;
  if (!a.finder.empty())
    options.detectors.insert(options.detectors.begin(), fs::path(a.finder).stem().string());
  return options;
}

// What is known of the points: their mirror, and the eye corners whose distance is the unit.
void learn_markup(const TrainArguments& a, const face::Annotations& annotations,
                  face::TrainerOptions& options) {
  const face::Markup markup = markup_of(annotations);
  options.unit = markup.unit;
  options.outline = markup.region("jaw");
  if (a.outline_scale) {
    if (markup.regions.empty())
      throw Error("--outline-scale needs the 68 points or a part of them");
    options.recipe.patch_scale.assign(markup.ids.size(), 1.0F);
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

// The model, and what it is learned from.
Outputs outputs_of(const TrainArguments& a) {
  Outputs outputs;
  outputs.reads(std::vector<fs::path>{a.truth, a.boxes, a.dev, a.dev_boxes, a.score_of});
  outputs.may_read(a.finder);
  if (a.rendered > 0) outputs.reads(files_to_render(a.rendering));
  if (!a.base.empty()) outputs.reads(model_file(a.base));
  if (a.mirror != "auto" && a.mirror != "none") outputs.reads(a.mirror);
  outputs.writes(a.output, Outputs::Kind::whole);
  return outputs;
}

// Gives a finished model the score of its fits, or another one; its maps stay as they are.
void learn_score(const TrainArguments& arguments) {
  Outputs outputs = outputs_of(arguments);
  face::Model model = face::Model::load(arguments.score_of);
  // A score is learned from starts about the true points: no boxes are read.
  TrainingSetOptions reading = reading_of(arguments);
  reading.recipe = model.recipe;
  face::Annotations annotations = read_sorted(arguments.truth, reading);
  add_inputs(outputs, annotations);
  const TrainingSet set =
      read_training_set(std::move(annotations), arguments.truth.filename().string(), reading);
  const std::vector<face::TrainingFace>& faces = set.faces;
  face::require_same_points(face::point_names(set.annotations), arguments.truth.string(),
                            model.point_names, arguments.score_of.string());
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
  say("wrote {}: the maps of {}, its score learned on {} faces\n", arguments.output.string(),
      arguments.score_of.string(), faces.size());
}

// Other points than a finished model's, from few pictures.
void learn_on_base(const TrainArguments& a) {
  Outputs outputs = outputs_of(a);
  const auto base = std::make_shared<const face::Model>(face::Model::load(model_file(a.base)));
  const auto boxes = read_table(a.boxes);
  face::BaseTrainerOptions options;
  const face::TrainerOptions given = options_of(a, boxes);
  options.unit = a.unit.value_or(options.unit);
  TrainingSetOptions reading = reading_of(a);
  reading.boxes = boxes;
  reading.detectors = given.detectors;
  reading.recipe = base->recipe;
  reading.recipe.unit = std::max(reading.recipe.unit, options.unit);
  std::optional<BoxFinder> finder = finder_of(a);
  if (finder) reading.finder = &*finder;
  face::Annotations annotations = read_sorted(a.truth, reading);
  add_inputs(outputs, annotations);
  const TrainingSet set =
      read_training_set(std::move(annotations), a.truth.filename().string(), reading);
  const std::vector<face::TrainingFace>& faces = set.faces;
  options.detectors = given.detectors;
  options.mirror =
      a.mirror == "auto" || a.mirror == "none" ? std::vector<int>() : face::read_mirror(a.mirror);
  options.find_mirror = a.mirror == "auto";
  options.starts = a.starts.value_or(options.starts);
  options.folds = a.folds.value_or(options.folds);
  options.seed = a.seed;
  options.threads = a.threads;
  options.name = given.name;
  options.provenance = a.provenance.empty()
                           ? fmt::format("sdm train {} --base {} ({})", a.truth.filename().string(),
                                         fs::path(a.base).filename().string(), base->provenance)
                           : a.provenance;
  options.licence = fmt::format("{}; of the base: {}", a.licence, base->licence);
  say("{} faces of {} points, on the {} of {}\n", faces.size(), set.annotations.ids.size(),
      base->points(), base->name);
  Progress progress("training");
  face::BaseTrainerObserver observer;
  observer.progress = [&](double share, const std::string& activity) {
    progress.update(share, activity);
  };
  observer.stage = [&](const face::BaseStage& at) {
    progress.clear();
    say("{}: held out {:.3f} -> {:.3f} % of the unit  (penalty {:.3g}){}\n",
        at.cell > 0 ? fmt::format("stage with cells of {:.3g} units", at.cell)
                    : "map from the base's points",
        100 * at.error_before, 100 * at.error_after, at.penalty, at.kept ? "" : ": not kept");
    std::fflush(stdout);
  };
  face::TrainedOnBase trained = face::train_on_base(faces, base, options, observer);
  progress.clear();
  trained.model.point_names = face::point_names(set.annotations);
  trained.model.save(a.output);
  if (trained.lost > 0)
    say("the base does not find {} of the faces (score below 0.5)\n", trained.lost);
  if (!trained.shape3d_message.empty())
    say("no head pose, the points in space are not known: {}\n", trained.shape3d_message);
  say("wrote {} ({:.2f} MB{}): held-out error {:.3f} % of the unit\n", a.output.string(),
      static_cast<double>(fs::file_size(a.output)) / 1e6,
      trained.model.mirror.empty() ? "" : ", mirrored", 100 * trained.error());
}

// Trains, telling how far it is and what each stage reached.
face::TrainedFace learn(const std::vector<face::TrainingFace>& faces,
                        const std::vector<face::TrainingFace>& dev,
                        const face::TrainerOptions& options) {
  Progress progress("training");
  const auto start = std::chrono::steady_clock::now();
  face::TrainerObserver observer;
  observer.estimate = [&](const TrainEstimate& estimate) {
    say("{} stages, {} starts of each face; expect {:.0f} s and {:.1f} GB\n",
        options.recipe.stages.size(), options.starts, estimate.seconds, estimate.bytes / 1e9);
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
    say("stage {}: train {:.3f} -> {:.3f} %, from the boxes {:.3f} %", at.stage.stage + 1,
        100 * at.stage.error_before, 100 * at.stage.error_after, 100 * at.held_out_error);
    if (std::isfinite(at.dev_error)) say(", dev {:.3f} %", 100 * at.dev_error);
    say("  (penalty {:.3g}, rank {}, {:.1f} s)\n", at.stage.penalty_factor,
        at.stage.rank > 0 ? std::to_string(at.stage.rank) : "whole", at.stage.seconds);
    std::fflush(stdout);
  };
  return face::train(faces, dev, options, observer);
}

// Tells what was tried.
face::Choice choose(const std::vector<face::TrainingFace>& faces,
                    const face::TrainerOptions& options, double budget, bool tell) {
  Progress progress("choosing");
  face::ChoiceOptions choosing;
  choosing.seconds = budget;
  if (tell) choosing.progress = [&](double share) { progress.update(share); };
  choosing.tried = [&](const face::TriedOptions& tried) {
    if (!tell) return;
    progress.clear();
    say("tried {:<40} held out {:.3f} % in {} stages{}\n", tried.what, 100 * tried.error,
        tried.stages, tried.better ? ", kept" : "");
    std::fflush(stdout);
  };
  face::Choice choice = face::choose_options(faces, options, choosing);
  progress.clear();
  if (tell) say("chosen: {}\n", choice.text);
  return choice;
}

// Trains once more without each part, choosing anew each time: nothing of a part is known then.
std::vector<face::Shape> cross_validate(const TrainArguments& arguments, const TrainingSet& set,
                                        const face::TrainerOptions& given) {
  const std::vector<int> parts =
      face::cross_validation_parts(set.faces, arguments.cross_validate, arguments.seed);
  Progress progress("cross-validating");
  return face::cross_validate(
      set.faces, parts, arguments.seed,
      [&](const std::vector<face::TrainingFace>& faces, int part) {
        progress.update(static_cast<double>(part) / arguments.cross_validate);
        face::TrainerOptions options = given;
        if (arguments.automatic()) options = choose(faces, given, arguments.budget, false).options;
        options.checkpoint.clear();
        return face::train(faces, {}, options).model;
      });
}

bool has_boxes(const face::Annotations& annotations) {
  return std::any_of(annotations.faces.begin(), annotations.faces.end(),
                     [](const face::Annotation& face) { return face.box.has_value(); });
}

// Of --boxes, or of a file beside the annotations where these have none.
std::optional<face::BoxTable> boxes_for(const TrainArguments& a,
                                        const face::Annotations& annotations) {
  const fs::path beside = face::boxes_beside(a.truth);
  if (!a.boxes.empty() || !a.finder.empty() || has_boxes(annotations) || !fs::exists(beside))
    return read_table(a.boxes);
  say("boxes of {}\n", beside.string());
  return read_table(beside);
}

// Many pictures are kept smaller, so that they fit in memory.
float finest_unit(std::size_t pictures) {
  return pictures > 2000 ? 70.0F : pictures > 500 ? 140.0F : face::kFinestUnit;
}

// Everything is told, read and written by the root; each rank reads its own pictures.
void run(const TrainArguments& arguments, World& world) {
  const fs::path chart = arguments.plot.empty()
                             ? fs::path(arguments.output).replace_extension("training.svg")
                             : arguments.plot;
  const bool drawn = arguments.rendered > 0;
  Outputs outputs;  // checked by the root
  const auto check_outputs = [&] {
    outputs = outputs_of(arguments);
    outputs.writes(chart);
    if (arguments.adaptation)
      outputs.writes(face::Adaptation::beside(arguments.output), Outputs::Kind::whole);
    outputs.writes(arguments.checkpoint, Outputs::Kind::whole);
    if (arguments.cross_validate > 0)
      for (const fs::path& path : cross_validation_files(arguments.output)) outputs.writes(path);
  };
  TrainingSetOptions reading = reading_of(arguments);
  reading.world = &world;
  reading.threads = world.threads(arguments.threads);
  face::Annotations annotations;
  face::TrainerOptions options;
  std::vector<int> ids;
  std::optional<BoxFinder> finder;
  world.together([&] {
    if (world.size() > 1 && (arguments.cross_validate > 0 || arguments.adaptation))
      throw Error("--cross-validate and --adaptation work in one process: train without mpirun");
    if (world.is_root()) check_outputs();
    annotations = drawn ? faces_to_draw(arguments.rendered) : read_sorted(arguments.truth, reading);
    if (world.is_root() && !drawn) add_inputs(outputs, annotations);
    if (!drawn) reading.boxes = boxes_for(arguments, annotations);
    if (world.is_root() && reading.boxes) outputs.reads(reading.boxes->path);
    // Stages of one's own are of the whole.
    const bool in_parts = arguments.cell.empty() && !arguments.no_parts && !arguments.automatic();
    options = options_of(arguments, reading.boxes,
                         in_parts ? markup_of(annotations).parts() : face::FaceParts());
    options.threads = reading.threads;
    options.communicator = world.communicator();
    options.validate();
    require_enough(annotations, arguments.truth, options.folds);
    ids = annotations.ids;
    options.point_names = face::point_names(annotations);
    if (!arguments.finder.empty())
      finder.emplace(arguments.finder, ThreadPool(reading.threads).threads());
    if (finder) reading.finder = &*finder;
    reading.whole_picture = !finder && !reading.boxes && !has_boxes(annotations);
    if (reading.whole_picture) options.detectors = {kWholePicture};
    reading.detectors = options.detectors;
    reading.recipe = options.recipe;
    if (arguments.automatic()) reading.recipe.unit = finest_unit(annotations.faces.size());
    learn_markup(arguments, annotations, options);
    if (arguments.finder == "sdm" && markup_of(annotations).size() != 68)
      throw Error(
          "--detector sdm finds faces of 68 points: train one of your objects with "
          "sdm train-detector");
  });
  const TrainingSet set = [&] {
    if (drawn) return draw_training_set(std::move(annotations), 0, arguments.rendering, reading);
    return read_training_set(std::move(annotations), arguments.truth.filename().string(), reading);
  }();
  const std::vector<face::TrainingFace>& faces = set.faces;
  const TrainingSetOptions drawing = reading;
  std::vector<face::TrainingFace> dev;
  world.together([&] {
    if (arguments.dev.empty() || !world.is_root()) return;
    reading.world = nullptr;
    const bool beside = arguments.dev_boxes.empty() && reading.boxes;
    reading.boxes = read_table(beside ? face::boxes_beside(arguments.dev) : arguments.dev_boxes);
    if (reading.boxes) outputs.reads(reading.boxes->path);
    face::Annotations held = read_sorted(arguments.dev, reading);
    add_inputs(outputs, held);
    face::require_same_points(face::point_names(held), arguments.dev.string(), options.point_names,
                              arguments.truth.string());
    if (held.ids != ids)
      throw Error(fmt::format("{} has other points than {}", arguments.dev.string(),
                              arguments.truth.string()));
    dev = read_training_set(std::move(held), arguments.dev.filename().string(), reading).faces;
  });
  const double all_faces = world.sum(static_cast<double>(faces.size()));
  if (world.size() > 1)
    say("{} ranks, {} threads each; this one has {} faces\n", world.size(), options.threads,
        faces.size());
  say("{} faces of {} points{}; {} dev faces{}\n", all_faces, ids.size(),
      reading.whole_picture ? ", each found from its whole picture" : "", dev.size(),
      options.mirror.empty() ? "" : "; mirrored");
  if (arguments.cross_validate > 0)  // better told before the work than after it
    face::cross_validation_parts(faces, arguments.cross_validate, arguments.seed);
  const face::TrainerOptions given = options;
  if (arguments.automatic()) {
    const face::Choice choice = choose(faces, given, arguments.budget, true);
    options = choice.options;
    if (arguments.provenance.empty())
      options.provenance += fmt::format("; chosen among {} settings by held-out error: {}",
                                        choice.tried.size(), choice.text);
  }
  if (arguments.fresh)
    options.fresh = [&](int stage) {
      const auto first =
          static_cast<std::uint64_t>(stage) * static_cast<std::uint64_t>(arguments.rendered);
      return draw_training_set(faces_to_draw(arguments.rendered), first, arguments.rendering,
                               drawing)
          .faces;
    };
  const face::TrainedFace trained = learn(faces, dev, options);
  world.together([&] {
    if (!world.is_root()) return;
    trained.model.save(arguments.output);
    plot(chart, trained);
  });
  if (!arguments.checkpoint.empty()) remove_checkpoint(arguments.checkpoint, world.communicator());
  if (!world.is_root()) return;
  if (arguments.adaptation) {
    face::AdaptationLearner learner(trained.model);
    for (const face::TrainingFace& face : faces) learner.add(face.picture, face.truth);
    learner.finish().save(face::Adaptation::beside(arguments.output));
  }
  say("{}\n", trained.summary.brief_report());
  if (trained.stages[trained.model.maps.size() - 1].held_out_error >=
      trained.stages.front().stage.error_before)
    tell(
        "sdm: what was learned is no better than the start: are there too few pictures, or "
        "do the points not fit them?\n");
  if (trained.model.maps.size() < trained.stages.size())
    say("{} of {} stages kept: the others do not lower the held-out error\n",
        trained.model.maps.size(), trained.stages.size());
  for (const face::BoxConvention& box : trained.model.boxes)
    say("boxes of {}: unit {:.4f} widths, centre + ({:.4f}, {:.4f}) widths\n", box.detector,
        box.scale, box.dx, box.dy);
  if (!trained.shape3d_message.empty())
    say("no head pose, the points in space are not known: {}\n", trained.shape3d_message);
  if (!dev.empty())
    say("dev error of the stored model: {:.3f} % of {}\n", 100 * trained.dev_error,
        options.unit.first < 0 ? "the unit" : "the outer eye corners' distance");
  say("wrote {} ({:.2f} MB) and {}\n", arguments.output.string(),
      static_cast<double>(fs::file_size(arguments.output)) / 1e6, chart.string());
  if (arguments.cross_validate > 0)
    report_cross_validation(set, cross_validate(arguments, set, given), arguments.cross_validate,
                            arguments.output);
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "Train a landmark model on annotated pictures");
  auto a = std::make_shared<TrainArguments>();
  command->add_option("ANNOTATIONS", a->truth,
                      "Landmarks: .csv, .pts or a folder, .tps, .xml, list");
  auto* rendered =
      command
          ->add_option("--rendered", a->rendered,
                       "Draw so many faces as `sdm render` does, in memory, and learn from them in "
                       "place of ANNOTATIONS")
          ->check(kPositive);
  command
      ->add_flag("--fresh", a->fresh,
                 "Draw others for every stage, so many each time: no stage sees a face that a "
                 "map before it has learned from, and memory stays that of one set")
      ->needs(rendered);
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
  command
      ->add_option("--preset", a->preset,
                   "A recipe that is known, for faces; without it and without options of the "
                   "recipe it is chosen by held-out error")
      ->check(CLI::IsMember({"accurate", "fast", "paper"}));
  auto* budget =
      command
          ->add_option(
              "--budget", a->budget,
              "Seconds of one core to choose the recipe in; reckoned, so that every machine "
              "chooses the same")
          ->transform(CLI::AsNumberWithUnit(
              std::map<std::string, double>{{"s", 1.0}, {"min", 60.0}, {"h", 3600.0}}))
          ->check(kPositive)
          ->capture_default_str();
  auto* cross_validate =
      command
          ->add_option(
              "--cross-validate", a->cross_validate,
              "Also learn without each of so many parts of the pictures and tell the error "
              "of every point there: table, JSON, plot, and labels to doubt. A group (column "
              "`group`, ID of .tps) stays together")
          ->check(CLI::Range(2, 1000));
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
  auto* base = command->add_option(
      "--base", a->base,
      "Learn these points, from few pictures, as an addition to this model's of other points; of "
      "the other options only -o, --boxes, --detectors, --mirror (auto finds it), --skip-bad, "
      "--unit, --starts, --folds, --seed, --threads and the file's own words count then");
  base->excludes(cross_validate)->excludes(budget);
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

  command
      ->add_flag("--no-parts", a->no_parts,
                 "Stages of the whole face alone, none of its eyes, brows, nose, mouth and jaw")
      ->group(look);

  const std::string learn = "How it learns";
  command->add_option("--starts", a->starts, "Starts of each face")->group(learn);
  command->add_option("--box-starts", a->box_starts, "How many of them from detectors' boxes")
      ->group(learn);
  command
      ->add_option("--turned-weight", a->turned_weight, "How much such a copy counts; its face: 1")
      ->check(CLI::Range(0.0, 100.0))
      ->group(learn);
  command
      ->add_option("--turned", a->turned,
                   "Further copies of each face, drawn turned by up to 70 degrees of yaw and 35 of "
                   "pitch")
      ->check(CLI::Range(0, 100))
      ->capture_default_str()
      ->group(learn);
  command->add_option("--folds", a->folds, "Parts for held-out errors")->group(learn);
  command
      ->add_flag("--no-label-offset", a->no_label_offset,
                 "Answer where both sides are alike, not where the labels lie on average")
      ->group(learn);
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
  command->add_option("--name", a->name)->check(kUtf8)->group(card);
  command->add_option("--provenance", a->provenance)->check(kUtf8)->group(card);
  command->add_option("--licence", a->licence)->check(kUtf8)->capture_default_str()->group(card);
  for (const char* other : {"--checkpoint", "--turned", "--cross-validate"})
    command->get_option("--fresh")->excludes(command->get_option(other));
  add_rendering_options(*command, a->rendering);
  command->get_option("--ict")->needs(rendered);
  rendered->needs(command->get_option("--ict"));
  command->callback([a] {
    if (a->truth.empty() == (a->rendered == 0))
      throw CLI::RequiredError("Either ANNOTATIONS or --rendered");
    a->rendering.options.seed = a->seed;
    a->rendering.threads = a->threads;
    World world;
    world.run([&] {
      if (a->base.empty() && a->score_of.empty()) return run(*a, world);
      world.together([&] {
        if (world.size() > 1)
          throw Error("--base and --score-of work in one process: train without mpirun");
        a->base.empty() ? learn_score(*a) : learn_on_base(*a);
      });
    });
  });
}

}  // namespace sdm::app
