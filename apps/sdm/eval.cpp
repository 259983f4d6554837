#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <opencv2/core/utility.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <string>
#include <vector>

#include "adapters/opencv/detector.h"
#include "adapters/opencv/image.h"
#include "apps/sdm/commands.h"
#include "apps/sdm/faces.h"
#include "apps/sdm/progress.h"
#include "experiments/plot.h"
#include "experiments/results.h"
#include "sdm/error.h"
#include "sdm/face/aligner.h"
#include "sdm/face/boxes.h"
#include "sdm/face/evaluation.h"
#include "sdm/linear/thread_pool.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Arguments {
  std::vector<std::string> models, predictions;
  fs::path truth, boxes;
  std::string detector, normaliser = "outer_eyes";
  std::vector<float> offset;
  int points = 0;
  bool one_stage = false, json = false, skip_bad = false;
  fs::path plot, sheet, save_predictions, save_boxes;
  int worst = 20;
  std::uint64_t seed = 1;
  int threads = 0;
};

// NAME=PATH, or PATH, whose name then is the file's.
std::pair<std::string, fs::path> named(const std::string& text) {
  const std::size_t split = text.find('=');
  if (split == std::string::npos || fs::exists(text)) return {fs::path(text).stem().string(), text};
  return {text.substr(0, split), text.substr(split + 1)};
}

// One thing to compare: a model that is run here, or predictions made elsewhere.
struct Method {
  std::string name;
  std::unique_ptr<face::Model> model;
  std::unique_ptr<face::Aligner> aligner;
  face::BoxConvention convention;
  face::Annotations predictions;
  double seconds = 0;  // spent in align
  int aligned = 0;
};

std::vector<int> ids_of(const face::Model& model) {
  const int points = int(model.points());
  if (points == 68 || points == 66 || points == 51 || points == 49) return face::ibug(points).ids;
  std::vector<int> ids(std::size_t(points), 0);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

Method run_model(std::string name, face::Model model, const Arguments& arguments) {
  Method method;
  method.name = std::move(name);
  method.convention = box_convention(model, arguments.detector, arguments.offset);
  method.predictions.ids = ids_of(model);
  method.model = std::make_unique<face::Model>(std::move(model));
  method.aligner = std::make_unique<face::Aligner>(*method.model);
  return method;
}

std::vector<Method> methods_of(const Arguments& arguments, const face::Annotations& truth) {
  std::vector<Method> methods;
  for (const std::string& text : arguments.models) {
    const auto [name, path] = named(text);
    face::Model model = face::Model::load(path);
    methods.push_back(run_model(name, model, arguments));
    if (!arguments.one_stage) continue;
    // The paper's comparison: linear regression is the first stage alone.
    model.maps.resize(1);
    model.recipe.stages.resize(1);
    methods.push_back(run_model(name + ", one stage", std::move(model), arguments));
  }
  for (const std::string& text : arguments.predictions) {
    const auto [name, path] = named(text);
    Method method;
    method.name = name;
    method.predictions =
        face::match(truth, face::read_annotations(path, {.skip_bad = arguments.skip_bad}));
    methods.push_back(std::move(method));
  }
  return methods;
}

bool holds(const face::Box& box, const face::Shape& points) {
  const Eigen::Vector2f centre = points.rowwise().mean();
  return centre.x() > box.x && centre.x() < box.x + box.width && centre.y() > box.y &&
         centre.y() < box.y + box.height;
}

// Runs the models on every true face. Pictures are read and searched in parallel; aligning is timed
// and so has the machine to itself.
class Runner {
 public:
  Runner(const Arguments& arguments, face::Annotations& truth, std::vector<Method>& methods)
      : arguments_(arguments), truth_(truth), methods_(methods), pool_(arguments.threads) {
    cv::setNumThreads(1);
    const face::BoxConvention& convention = methods[0].convention;
    if (!arguments.boxes.empty()) {
      face::give_boxes(truth, face::read_boxes(arguments.boxes, convention.detector));
    } else if (std::none_of(truth.faces.begin(), truth.faces.end(),
                            [](const face::Annotation& face) { return face.box.has_value(); })) {
      for (int i = 0; i < pool_.threads(); ++i)
        detectors_.push_back(opencv::make_detector(convention.detector));
    }
  }

  void run() {
    Progress progress("eval");
    const std::size_t count = truth_.faces.size(), chunk = 128;  // pictures in memory at a time
    for (std::size_t first = 0; first < count; first += chunk) {
      const std::size_t size = std::min(chunk, count - first);
      std::vector<image::Image<std::uint8_t>> pictures(size);
      std::vector<std::string> errors(size);
      pool_.run(Index(size), [&](Index i, int thread) {
        face::Annotation& face = truth_.faces[first + std::size_t(i)];
        try {
          pictures[std::size_t(i)] = opencv::read_grey(truth_.path(face));
          if (!detectors_.empty())
            find_box(face, pictures[std::size_t(i)], detectors_[std::size_t(thread)]);
        } catch (const Error& error) {
          errors[std::size_t(i)] = error.what();
        }
      });
      for (std::size_t i = 0; i < size; ++i) {
        if (!errors[i].empty()) unreadable.push_back(errors[i]);
        align(first + i, pictures[i]);
      }
      progress.update(double(first + size) / double(count));
    }
  }

  int from_truth = 0;                   // faces that had no box
  std::vector<std::string> unreadable;  // pictures

 private:
  static void find_box(face::Annotation& face, image::ByteView picture,
                       opencv::Detector& detector) {
    std::vector<face::Box> boxes = detector(picture);
    std::erase_if(boxes, [&](const face::Box& box) { return !holds(box, face.points); });
    face::give_box(face, boxes);
  }

  void align(std::size_t index, image::ByteView picture) {
    face::Annotation& face = truth_.faces[index];
    if (!picture.empty() && !face.box) {
      const Method& first = methods_[0];  // models come first
      face.box = face::perturbed_box(face::select(face.points, truth_.ids, first.predictions.ids),
                                     first.model->mean, first.convention,
                                     arguments_.seed * 1000003 + index);
      ++from_truth;
    }
    for (Method& method : methods_) {
      if (!method.model) continue;
      face::Annotation prediction{face.file, face::Shape(2, 0), face.box};
      if (!picture.empty()) {
        using Clock = std::chrono::steady_clock;
        if (method.aligned == 0) method.aligner->align(picture, *face.box, method.convention);
        const auto start = Clock::now();
        prediction.points = method.aligner->align(picture, *face.box, method.convention).points;
        method.seconds += std::chrono::duration<double>(Clock::now() - start).count();
        ++method.aligned;
      }
      method.predictions.faces.push_back(std::move(prediction));
    }
  }

  const Arguments& arguments_;
  face::Annotations& truth_;
  std::vector<Method>& methods_;
  ThreadPool pool_;
  std::vector<opencv::Detector> detectors_;
};

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::vector<std::size_t> worst_first(const face::Evaluation& result, int count) {
  std::vector<std::size_t> order(result.errors.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return result.errors[a] > result.errors[b];
  });
  order.resize(std::min(order.size(), std::size_t(std::max(0, count))));
  return order;
}

Json to_json(const face::Evaluation& result, const Method& method, const face::Annotations& truth,
             int from_truth, int worst) {
  Json json{{"name", result.name},
            {"n", result.errors.size()},
            {"points", result.markup.size()},
            {"normaliser", face::name_of(result.normaliser)},
            {"mean", number(result.mean)},
            {"median", number(result.median)},
            {"auc08", result.auc},
            {"fr08", result.failure_rate},
            {"time_us_per_face",
             method.aligned > 0 ? number(1e6 * method.seconds / method.aligned) : Json(nullptr)},
            {"missing", result.missing}};
  if (method.model) json["boxes_from_truth"] = from_truth;
  json["regions"] = Json::object();
  for (std::size_t i = 0; i < result.region_errors.size(); ++i)
    json["regions"][result.markup.regions[i].name] = number(result.region_errors[i]);
  json["point_errors"] = Json::object();
  for (std::size_t i = 0; i < result.point_errors.size(); ++i)
    json["point_errors"][std::to_string(result.markup.ids[i])] = number(result.point_errors[i]);
  json["worst"] = Json::array();
  for (std::size_t i : worst_first(result, worst))
    json["worst"].push_back({{"file", truth.faces[i].file}, {"error", number(result.errors[i])}});
  return json;
}

void print(const std::vector<face::Evaluation>& results, const std::vector<Method>& methods) {
  const auto percent = [](double value) { return fmt::format("{:.2f}", 100 * value); };
  std::vector<std::vector<std::string>> lines{
      {"method", "points", "mean %", "median %", "auc08 %", "fr08 %", "missing", "us/face"}};
  std::vector<std::vector<std::string>> regions{{"mean % by region"}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const face::Evaluation& r = results[i];
    const Method& m = methods[i];
    lines.push_back({r.name, std::to_string(r.markup.size()), percent(r.mean), percent(r.median),
                     percent(r.auc), percent(r.failure_rate), std::to_string(r.missing),
                     m.aligned > 0 ? fmt::format("{:.0f}", 1e6 * m.seconds / m.aligned) : "-"});
    regions[0].push_back(r.name);
  }
  fmt::print("{}\n", experiments::format_table(lines));
  // By name: methods may have different points.
  for (const face::Region& region : face::ibug(68).regions) {
    std::vector<std::string> line{region.name};
    bool any = false;
    for (const face::Evaluation& r : results) {
      std::string cell = "-";
      for (std::size_t k = 0; k < r.region_errors.size(); ++k)
        if (r.markup.regions[k].name == region.name) cell = percent(r.region_errors[k]);
      any = any || cell != "-";
      line.push_back(cell);
    }
    if (any) regions.push_back(line);
  }
  if (regions.size() > 1) fmt::print("{}\n", experiments::format_table(regions));
}

std::string plot(const std::vector<face::Evaluation>& results) {
  experiments::LineChart chart;
  chart.title = "Cumulative error distribution";
  chart.x_label = fmt::format("error / {}, percent", face::name_of(results[0].normaliser));
  chart.y_label = "share of faces";
  chart.markers = false;
  std::vector<double> thresholds, percent;
  for (int i = 0; i <= 160; ++i) {
    thresholds.push_back(results[0].threshold * i / 160);
    percent.push_back(100 * thresholds.back());
  }
  for (const face::Evaluation& result : results)
    chart.series.push_back({fmt::format("{} ({:.2f} %)", result.name, 100 * result.mean), percent,
                            face::cumulative(result.errors, thresholds)});
  return experiments::svg({chart}, 1);
}

cv::Mat worst_cases(const face::Evaluation& result, const Method& method,
                    const face::Annotations& truth, int count) {
  std::vector<SheetFace> faces;
  for (std::size_t i : worst_first(result, count)) {
    const face::Annotation& face = truth.faces[i];
    if (!fs::exists(truth.path(face))) continue;
    const std::string caption = std::isinf(result.errors[i])
                                    ? "missing"
                                    : fmt::format("{:.1f} % {}", 100 * result.errors[i],
                                                  fs::path(face.file).stem().string());
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

void evaluate(const Arguments& arguments) {
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);  // we report ourselves
  if (arguments.models.empty() && arguments.predictions.empty())
    throw CLI::ValidationError("eval needs --model or --predictions");
  face::Annotations truth =
      face::read_annotations(arguments.truth, {.skip_bad = arguments.skip_bad});
  for (const std::string& line : truth.skipped) fmt::print(stderr, "sdm: skipped {}\n", line);
  std::vector<Method> methods = methods_of(arguments, truth);

  std::vector<std::string> unreadable;
  int from_truth = 0;
  if (!arguments.models.empty()) {
    Runner runner(arguments, truth, methods);
    runner.run();
    unreadable = runner.unreadable;
    from_truth = runner.from_truth;
    if (!arguments.save_boxes.empty())
      save_boxes(truth, methods[0].convention.detector, arguments.save_boxes);
    if (!arguments.save_predictions.empty()) {
      face::Annotations predictions = methods[0].predictions;
      std::erase_if(predictions.faces,
                    [](const face::Annotation& face) { return face.points.cols() == 0; });
      face::write_csv(arguments.save_predictions, predictions);
    }
  }

  face::EvaluationOptions options;
  options.normaliser = face::normaliser_from(arguments.normaliser);
  if (arguments.points > 0) options.ids = face::ibug(arguments.points).ids;
  std::vector<face::Evaluation> results;
  Json json = Json::array();
  for (const Method& method : methods) {
    try {
      results.push_back(face::evaluate(truth, method.predictions, options));
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", method.name, error.what()));
    }
    results.back().name = method.name;
    json.push_back(to_json(results.back(), method, truth, from_truth, arguments.worst));
  }
  if (arguments.json) {
    fmt::print("{}\n", (json.size() == 1 ? json[0] : json).dump(1));
  } else {
    fmt::print("{}: {} faces, errors over {}", arguments.truth.string(), truth.faces.size(),
               arguments.normaliser);
    if (from_truth > 0) fmt::print("; {} had no box and started from the truth's", from_truth);
    fmt::print("\n\n");
    print(results, methods);
  }
  if (!arguments.plot.empty()) experiments::write_text(arguments.plot, plot(results));
  if (!arguments.sheet.empty())
    opencv::write_image(arguments.sheet,
                        worst_cases(results[0], methods[0], truth, arguments.worst));
  for (const std::string& line : unreadable) fmt::print(stderr, "sdm: {}\n", line);
  if (!unreadable.empty())
    throw Error(
        fmt::format("{} of {} pictures could not be read", unreadable.size(), truth.faces.size()));
}

}  // namespace

void add_eval(CLI::App& app) {
  CLI::App* command = app.add_subcommand("eval", "Measure landmark errors, side by side");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("-m,--model", arguments->models,
                      "Face models to run; PATH or NAME=PATH, several are compared");
  command->add_option("-p,--predictions", arguments->predictions,
                      "Landmarks found elsewhere: PATH or NAME=PATH in any format of annotations");
  command->add_option("--truth", arguments->truth, "The true landmarks: .csv, .pts, .xml, list")
      ->required();
  command->add_option("--boxes", arguments->boxes,
                      "Boxes of the faces (CSV); without it the annotations' own, or the detector");
  command->add_option("--detector", arguments->detector,
                      "Whose boxes: the column in --boxes, or the detector to run; default: the "
                      "model's own");
  command
      ->add_option("--detector-offset", arguments->offset,
                   "How to read a foreign detector's boxes: face unit (outer eye corners) in box "
                   "widths, then x and y from the box's centre to the face's, in widths")
      ->expected(3)
      ->type_name("SCALE DX DY");
  command->add_option("--points", arguments->points,
                      "Compare 68, 66, 51 or 49 points; default: all that both have");
  command
      ->add_option("--normaliser", arguments->normaliser,
                   "outer_eyes, eye_centres (inter-pupil) or box_diagonal")
      ->capture_default_str();
  command->add_flag("--one-stage", arguments->one_stage,
                    "Also the first stage of each model alone: linear regression");
  command->add_flag("--json", arguments->json, "Print the results as JSON on stdout; fractions");
  command->add_option("--plot", arguments->plot, "Write the cumulative error curves, SVG");
  command->add_option("--sheet", arguments->sheet,
                      "Write the worst faces of the first method as a picture");
  command->add_option("--worst", arguments->worst, "How many worst faces to tell and show")
      ->capture_default_str();
  command->add_option("--save-predictions", arguments->save_predictions,
                      "Write what the first model found, CSV");
  command->add_option("--save-boxes", arguments->save_boxes,
                      "Write the boxes used, perturbed ones too, CSV");
  command->add_flag("--skip-bad", arguments->skip_bad, "Go on after bad lines and tell them");
  command->add_option("--seed", arguments->seed, "Seed of the perturbed boxes")
      ->capture_default_str();
  command
      ->add_option("--threads", arguments->threads,
                   "Threads to read pictures with; 0 takes all cores")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->footer(
      "A face without a box starts from a perturbed true one: the frame that fits the true "
      "points,\n"
      "upright, moved and scaled by normal noise of the deviations the model measured between its\n"
      "detector and the truth, with a fixed seed. A face without a prediction has failed (fr08,\n"
      "auc08) and has no part in mean and median. The time is that of aligning alone, one thread.");
  command->callback([arguments] { evaluate(*arguments); });
}

}  // namespace sdm::app
