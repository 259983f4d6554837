#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <opencv2/core/utility.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/sdm/annotations.h"
#include "apps/sdm/commands.h"
#include "apps/sdm/faces.h"
#include "apps/sdm/numbers.h"
#include "apps/sdm/output.h"
#include "apps/sdm/progress.h"
#include "apps/sdm/score.h"
#include "apps/sdm/sheet.h"
#include "apps/sdm/shipped_model.h"
#include "apps/sdm/tell.h"
#include "report/error_curves.h"
#include "report/machine.h"
#include "report/named_file.h"
#include "report/plot.h"
#include "report/results.h"
#include "sdm/base/error.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/evaluation.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/data/methods.h"
#include "sdm/opencv/image.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct EvalArguments {
  std::vector<std::string> models, predictions;
  fs::path truth, boxes, images;
  std::string detector, normaliser;
  std::vector<float> offset;
  int points = 0;
  bool one_stage = false, json = false, skip_bad = false, score = false, strict = false;
  fs::path plot, sheet, save_predictions, save_boxes;
  int worst = 20;
  std::uint64_t seed = 1;
  int threads = 0;
};

// NAME=PATH, where PATH may be the name of a shipped model.
std::pair<std::string, std::string> named_model(const std::string& text) {
  const auto [name, path] = report::named_file(text);
  if (path.empty())
    throw CLI::ValidationError(
        fmt::format("--model '{}': no path in it, expected PATH or NAME=PATH", text));
  return {name, path.string()};
}

std::vector<face::Method> methods_of(const EvalArguments& arguments, const face::Annotations& truth,
                                     bool finds_faces, const std::optional<face::BoxTable>& boxes,
                                     face::MethodRunOptions& run,
                                     std::optional<FaceFinder>& finder) {
  std::vector<face::Method> methods;
  std::string detector = arguments.detector;
  for (const std::string& text : arguments.models) {
    const auto [name, path] = named_model(text);
    const face::Model model = load_face_model(path);
    if (boxes && detector.empty()) detector = detector_of(*boxes, model);
    if (methods.empty()) {
      run.model = model;
      if (finds_faces)
        finder.emplace(*run.model, DetectorChoice{arguments.detector, arguments.offset, {}, {}});
    }
    // Faces that are found with their places are given to all as the first model's default boxes.
    const bool by_place = finder && (finder->is_ours() || knows_its_boxes(detector));
    const auto convention =
        by_place ? run.model->convention() : box_convention(model, detector, arguments.offset);
    if (methods.empty()) run.convention = convention;
    methods.push_back(face::model_method(name, model, convention));
    if (arguments.one_stage)
      methods.push_back(face::model_method(name + ", one stage", model, convention, 1));
  }
  for (const std::string& text : arguments.predictions) {
    const auto [name, path] = report::named_file(text);
    methods.push_back(face::predicted_method(
        name, truth,
        face::read_annotations(path, read_options(arguments.skip_bad, arguments.images))));
  }
  return methods;
}

// By `pixels` errors are pixels, else shares that are told in percent.
bool in_pixels(const face::Evaluation& result) {
  return result.normaliser == face::Normaliser::pixels;
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const face::Evaluation& result, const face::Method& method,
             const face::Annotations& truth, int from_truth, int worst) {
  Json json{
      {"name", result.name},
      {"n", result.errors.size()},
      {"points", result.markup.size()},
      {"normaliser", face::name_of(result.normaliser)},
      {"mean", number(result.mean)},
      {"median", number(result.median)},
      {in_pixels(result) ? "auc10px" : "auc08", result.auc},
      {in_pixels(result) ? "fr10px" : "fr08", result.failure_rate},
      {"time_us_per_face", !method.seconds.empty() ? number(method.microseconds()) : Json(nullptr)},
      {"missing", result.missing}};
  if (method.find) json["boxes_from_truth"] = from_truth;
  json["regions"] = Json::object();
  for (std::size_t i = 0; i < result.region_errors.size(); ++i)
    json["regions"][result.markup.regions[i].name] = number(result.region_errors[i]);
  json["point_errors"] = Json::object();
  for (std::size_t i = 0; i < result.point_errors.size(); ++i)
    json["point_errors"][std::to_string(result.markup.ids[i])] = number(result.point_errors[i]);
  if (!result.markup.ids.empty() && !truth.names.empty()) {
    json["point_names"] = Json::object();
    for (std::size_t i = 0; i < truth.names.size(); ++i)
      json["point_names"][std::to_string(truth.ids[i])] = truth.names[i];
  }
  if (std::isfinite(result.scaled_mean)) {
    json["scaled_mean"] = result.scaled_mean;
    json["scaled_median"] = result.scaled_median;
    for (std::size_t i = 0; i < result.scaled_point_errors.size(); ++i)
      json["scaled_point_errors"][std::to_string(result.markup.ids[i])] =
          number(result.scaled_point_errors[i]);
  }
  json["worst"] = Json::array();
  for (std::size_t i : face::worst_first(result, worst))
    json["worst"].push_back({{"file", truth.faces[i].file}, {"error", number(result.errors[i])}});
  return json;
}

void print(const std::vector<face::Evaluation>& results, const std::vector<face::Method>& methods) {
  const bool pixels = in_pixels(results[0]);
  const auto percent = [](double value) { return fmt::format("{:.2f}", 100 * value); };
  const auto error = [=](double value) {
    return fmt::format("{:.2f}", (pixels ? 1 : 100) * value);
  };
  std::vector<std::vector<std::string>> lines{
      {"method", "points", "mean %", "median %", "auc08 %", "fr08 %", "missing", "us/face"}};
  if (pixels)
    lines[0] = {"method",    "points",       "mean rms px", "median px",
                "auc10px %", "over 10 px %", "missing",     "us/face"};
  const bool scaled = std::isfinite(results[0].scaled_mean);
  if (scaled) lines[0].insert(lines[0].end(), {"mean in units of the scale", "median"});
  std::vector<std::vector<std::string>> regions{{pixels ? "rms px by region" : "mean % by region"}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const face::Evaluation& r = results[i];
    const face::Method& m = methods[i];
    lines.push_back({r.name, std::to_string(r.markup.size()), error(r.mean), error(r.median),
                     percent(r.auc), percent(r.failure_rate), std::to_string(r.missing),
                     !m.seconds.empty() ? fmt::format("{:.0f}", m.microseconds()) : "-"});
    if (scaled)
      lines.back().insert(lines.back().end(), {fmt::format("{:.4g}", r.scaled_mean),
                                               fmt::format("{:.4g}", r.scaled_median)});
    regions[0].push_back(r.name);
  }
  say("{}\n", report::format_table(lines));
  // By name: methods may have different points.
  for (const face::Region& region : face::ibug(68).regions) {
    std::vector<std::string> line{region.name};
    bool any = false;
    for (const face::Evaluation& r : results) {
      std::string cell = "-";
      for (std::size_t k = 0; k < r.region_errors.size(); ++k)
        if (r.markup.regions[k].name == region.name) cell = error(r.region_errors[k]);
      any = any || cell != "-";
      line.push_back(cell);
    }
    if (any) regions.push_back(line);
  }
  if (regions.size() > 1) say("{}\n", report::format_table(regions));
}

cv::Mat worst_cases(const face::Evaluation& result, const face::Method& method,
                    const face::Annotations& truth, int count) {
  std::vector<SheetFace> faces;
  for (std::size_t i : face::worst_first(result, count)) {
    const face::Annotation& face = truth.faces[i];
    if (!fs::exists(truth.path(face))) continue;
    const std::string caption =
        std::isinf(result.errors[i])
            ? "missing"
            : fmt::format("{:.1f} {} {}", (in_pixels(result) ? 1 : 100) * result.errors[i],
                          in_pixels(result) ? "px" : "%", fs::path(face.file).stem().string());
    faces.push_back({truth.path(face), face.points, method.predictions.faces[i].points, caption});
  }
  return contact_sheet(faces);
}

void save_boxes(const face::Annotations& truth, const std::string& detector, const fs::path& path) {
  face::Boxes boxes;
  for (const face::Annotation& face : truth.faces)
    if (face.box) boxes[face.file].push_back(*face.box);
  face::write_boxes(path, boxes, detector);
}

std::vector<face::Roc> score_curves(const EvalArguments& arguments,
                                    const face::Annotations& truth) {
  std::vector<face::Roc> curves;
  for (const std::string& text : arguments.models)
    if (arguments.score)
      curves.push_back(score_curve(load_face_model(named_model(text).second), truth, arguments.seed,
                                   arguments.threads));
  return curves;
}

std::vector<std::string> names_of(const EvalArguments& arguments) {
  std::vector<std::string> names;
  for (const std::string& text : arguments.models) names.push_back(report::named_file(text).first);
  return names;
}

Outputs outputs_of(const EvalArguments& arguments) {
  Outputs outputs;
  outputs.reads(std::vector<fs::path>{arguments.truth, arguments.boxes});
  outputs.may_read(arguments.detector);
  for (const std::string& text : arguments.predictions)
    outputs.reads(report::named_file(text).second);
  for (const std::string& text : arguments.models)
    outputs.reads(model_file(report::named_file(text).second.string()));
  for (const fs::path& output :
       {arguments.plot, arguments.sheet, arguments.save_predictions, arguments.save_boxes})
    outputs.writes(output);
  return outputs;
}

void evaluate(EvalArguments arguments) {
  if (arguments.models.empty() && arguments.predictions.empty())
    throw CLI::ValidationError("eval needs --model or --predictions");
  Outputs outputs = outputs_of(arguments);
  face::Annotations truth =
      face::read_annotations(arguments.truth, read_options(arguments.skip_bad, arguments.images));
  for (const std::string& line : truth.skipped) tell("sdm: skipped {}\n", line);
  add_inputs(outputs, truth);
  const bool boxless =
      std::none_of(truth.faces.begin(), truth.faces.end(),
                   [](const face::Annotation& face) { return face.box.has_value(); });
  // A detector that is named without boxes is to be run.
  if (arguments.boxes.empty() && boxless && arguments.detector.empty() &&
      arguments.offset.empty() && fs::exists(face::boxes_beside(arguments.truth)))
    arguments.boxes = face::boxes_beside(arguments.truth);
  outputs.reads(arguments.boxes);
  const bool finds_faces = arguments.boxes.empty() && boxless;
  std::optional<face::BoxTable> boxes;
  if (!arguments.boxes.empty()) boxes = face::read_box_table(arguments.boxes);
  face::MethodRunOptions run_options;
  std::optional<FaceFinder> finder;
  std::vector<face::Method> methods =
      methods_of(arguments, truth, finds_faces, boxes, run_options, finder);

  face::MethodRun run;
  std::string boxes_from;
  if (arguments.models.empty()) report_sense(truth, arguments.strict, arguments.threads);
  if (!arguments.models.empty()) {
    const std::string& detector = run_options.convention.detector;
    if (boxes) {
      face::give_boxes(truth, boxes->of(detector));
      boxes_from = fmt::format(", boxes of {}", arguments.boxes.filename().string());
    } else if (finder) {
      run_options.make_detector = [&] { return finder->boxes_as(run_options.convention); };
    }
    report_sense(truth, arguments.strict, arguments.threads);
    Progress progress("eval");
    cv::setNumThreads(1);  // pictures are read and searched in parallel
    run_options.clock = report::processor_seconds;
    run_options.seed = arguments.seed;
    run_options.threads = arguments.threads;
    run_options.progress = [&](double share) { progress.update(share); };
    run = face::run_methods(truth, methods, opencv::read_grey, run_options);
    if (!arguments.save_boxes.empty()) save_boxes(truth, detector, arguments.save_boxes);
    if (!arguments.save_predictions.empty()) {
      face::Annotations predictions = methods[0].predictions;
      std::erase_if(predictions.faces,
                    [](const face::Annotation& face) { return face.points.cols() == 0; });
      face::write_csv(arguments.save_predictions, predictions);
    }
  }

  if (arguments.normaliser.empty())
    arguments.normaliser = markup_of(truth).unit.first >= 0 ? "outer_eyes" : "box_diagonal";
  face::EvaluationOptions options;
  options.normaliser = face::normaliser_from(arguments.normaliser);
  if (arguments.points > 0) options.ids = face::ibug(arguments.points).ids;
  std::vector<face::Evaluation> results;
  Json json = Json::array();
  for (const face::Method& method : methods) {
    try {
      results.push_back(face::evaluate(truth, method.predictions, options));
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", method.name, error.what()));
    }
    results.back().name = method.name;
    json.push_back(to_json(results.back(), method, truth, run.from_truth, arguments.worst));
  }
  const std::vector<face::Roc> curves = score_curves(arguments, truth);
  for (std::size_t i = 0, at = 0; i < curves.size(); ++i, at += arguments.one_stage ? 2 : 1)
    json[at]["score"] = score_json(curves[i]);
  if (arguments.json) {
    put_text(report::json_text(json.size() == 1 ? json[0] : json));
  } else {
    say("{}: {} faces{}, errors {}", arguments.truth.string(), truth.faces.size(), boxes_from,
        in_pixels(results[0]) ? "in pixels, root mean square over the points"
                              : "over " + arguments.normaliser);
    if (run.from_truth > 0) say("; {} had no box and started from the truth's", run.from_truth);
    say("\n\n");
    print(results, methods);
    if (arguments.score) say("\n{}\n", score_table(names_of(arguments), curves));
  }
  if (!arguments.plot.empty()) {
    std::vector<report::Chart> charts{report::error_curves(results)};
    if (arguments.score) charts.emplace_back(score_chart(names_of(arguments), curves));
    report::write_text(arguments.plot, report::svg(charts, 1));
  }
  if (!arguments.sheet.empty())
    opencv::write_image(arguments.sheet,
                        worst_cases(results[0], methods[0], truth, arguments.worst));
  for (const std::string& line : run.unreadable) tell("sdm: {}\n", line);
  if (!run.unreadable.empty())
    throw Error(fmt::format("{} of {} pictures could not be read", run.unreadable.size(),
                            truth.faces.size()));
}

}  // namespace

void add_eval(CLI::App& app) {
  CLI::App* command = app.add_subcommand("eval", "Measure landmark errors, side by side");
  auto arguments = std::make_shared<EvalArguments>();
  auto* model = command->add_option("-m,--model", arguments->models,
                                    "Face models to run; PATH or NAME=PATH, several are compared");
  command->add_option("-p,--predictions", arguments->predictions,
                      "Landmarks found elsewhere: PATH or NAME=PATH in any format of annotations");
  command
      ->add_option("--truth", arguments->truth, "The true landmarks: .csv, .pts, .tps, .xml, list")
      ->required();
  command->add_option("--boxes", arguments->boxes,
                      "Boxes of the faces (CSV); without it the annotations' own, those of "
                      "TRUTH_boxes.csv beside it, or the detector");
  command
      ->add_flag("--score", arguments->score,
                 "Also tell how well the models' scores tell good fits from failed ones")
      ->needs(model);
  command->add_option("--detector", arguments->detector,
                      "Whose boxes: the column in --boxes, or the detector to run, as for sdm "
                      "detect; default: the model's own column, or sdm's detector");
  command->add_option("--detector-offset", arguments->offset, kOffsetHelp)
      ->expected(3)
      ->type_name("SCALE DX DY");
  command->add_option("--points", arguments->points,
                      "Compare 68, 66, 51 or 49 points; default: all that both have");
  command->add_option(
      "--normaliser", arguments->normaliser,
      "outer_eyes, eye_centres (inter-pupil), box_diagonal, or pixels: the root mean "
      "square, not normalised; default: outer_eyes, or box_diagonal for other points");
  command->add_flag("--one-stage", arguments->one_stage,
                    "Also the first stage of each model alone: linear regression");
  command->add_flag("--json", arguments->json, "Print the results as JSON on stdout; fractions");
  command->add_option("--plot", arguments->plot, "Write the cumulative error curves, SVG");
  command->add_option("--sheet", arguments->sheet,
                      "Write the worst faces of the first method as a picture");
  command->add_option("--worst", arguments->worst, "How many worst faces to tell and show")
      ->capture_default_str();
  command
      ->add_option("--save-predictions", arguments->save_predictions,
                   "Write what the first model found, CSV")
      ->needs(model);
  command
      ->add_option("--save-boxes", arguments->save_boxes,
                   "Write the boxes used, perturbed ones too, CSV")
      ->needs(model);
  command->add_option("--images", arguments->images, kImagesHelp);
  command->add_flag("--strict", arguments->strict, kStrictHelp);
  command->add_flag("--skip-bad", arguments->skip_bad, "Go on after bad lines and tell them");
  command->add_option("--seed", arguments->seed, "Seed of the perturbed boxes")
      ->capture_default_str();
  command
      ->add_option("--threads", arguments->threads,
                   "Threads to read pictures with; 0 takes all cores")
      ->check(kNotNegative)
      ->capture_default_str();
  command->footer(
      "A face without a box starts from a perturbed true one: the frame that fits the true "
      "points,\n"
      "upright, moved and scaled by normal noise of the deviations the model measured between its\n"
      "detector and the truth, with a fixed seed. A face without a prediction has failed (fr08,\n"
      "auc08) and has no part in mean and median. The time is the processor's for aligning a face, "
      "the median.");
  command->callback([arguments] { evaluate(*arguments); });
}

}  // namespace sdm::app
