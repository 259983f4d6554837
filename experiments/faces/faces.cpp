#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <opencv2/core/utility.hpp>
#include <optional>

#include "experiments/face_dlib.h"
#include "experiments/faces/degraded.h"
#include "experiments/faces/face_set.h"
#include "experiments/faces/faces_29.h"
#include "experiments/faces/faces_covered.h"
#include "experiments/faces/faces_photographs.h"
#include "experiments/faces/faces_turned.h"
#include "experiments/registry.h"
#include "report/error_curves.h"
#include "report/machine.h"
#include "report/named_file.h"
#include "sdm/base/error.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/evaluation.h"
#include "sdm/face/data/methods.h"
#include "sdm/opencv/draw.h"
#include "sdm/opencv/image.h"

namespace sdm::experiments {
namespace {

namespace fs = std::filesystem;

constexpr char kDetector[] = "haar_alt2";
constexpr char kAccurate[] = "SDM accurate", kFast[] = "SDM fast", kLinear[] = "one linear stage",
               kAuthors[] = "IntraFace", kDlib[] = "dlib, shipped";
constexpr int kShown = 10;

std::string percent(double fraction) { return fmt::format("{:.2f}", 100 * fraction); }

/// A shape predictor of dlib or a model of ours; nothing where the file holds predictions.
std::optional<face::Method> runnable_peer(const std::string& name, const fs::path& path) {
  if (path.extension() == ".dat") return dlib_method(name, path);
  if (path.extension() != ".sdm") return std::nullopt;
  face::Model model = face::Model::load(path);
  const face::BoxConvention convention = model.convention(kDetector);
  return face::model_method(name, std::move(model), convention);
}

/// What can be asked about faces that nobody has seen yet, and whose boxes it takes.
std::vector<TurnedMethod> turned_methods(const ExperimentContext& context,
                                         const face::Model& accurate, const face::Model& fast) {
  std::vector<TurnedMethod> methods = {
      {face::model_method(kAccurate, accurate, accurate.convention(kDetector)), kDetector},
      {face::model_method(kFast, fast, fast.convention(kDetector)), kDetector}};
  if (have_dlib() && fs::exists(kDlibModel))
    methods.push_back({dlib_method(kDlib, kDlibModel), "dlib"});
  for (const std::string& peer : context.peers) {
    const auto [name, path] = named_file(peer);
    if (const auto method = runnable_peer(name, path)) methods.push_back({*method, kDetector});
  }
  return methods;
}

/// Everything that is compared, our own models first.
std::vector<face::Method> make_methods(const ExperimentContext& context, const fs::path& folder,
                                       const face::Annotations& truth, const face::Model& accurate,
                                       const face::Model& fast) {
  std::vector<face::Method> methods;
  methods.push_back(face::model_method(kAccurate, accurate, accurate.convention(kDetector)));
  methods.push_back(face::model_method(kFast, fast, fast.convention(kDetector)));
  methods.push_back(face::model_method(kLinear, accurate, accurate.convention(kDetector), 1));
  if (have_dlib() && fs::exists(kDlibModel)) {
    try {
      face::Annotations boxed = truth;  // it expects the boxes of dlib's own detector
      face::give_boxes(boxed, face::read_boxes(folder / "lfpw_test_boxes.csv", "dlib"));
      methods.push_back(dlib_method(kDlib, kDlibModel));
      for (const face::Annotation& face : boxed.faces) methods.back().boxes.push_back(face.box);
    } catch (const Error& error) {
      context.say(fmt::format("dlib's model left out: {}", error.what()));
    }
  } else {
    context.say("dlib's model left out: libdlib-dev or libdlib-data was not found");
  }
  for (const std::string& peer : context.peers) {
    const auto [name, path] = named_file(peer);
    if (path.extension() == ".onnx") continue;  // a detector
    if (const auto method = runnable_peer(name, path))
      methods.push_back(*method);
    else
      methods.push_back(face::predicted_method(name, truth, face::read_annotations(path)));
  }
  // Last, as it has fewer points.
  if (const fs::path file = folder / "lfpw_test_intraface49.csv"; fs::exists(file))
    methods.push_back(face::predicted_method(kAuthors, truth, face::read_annotations(file)));
  return methods;
}

std::vector<face::Evaluation> evaluate_all(const face::Annotations& truth,
                                           const std::vector<face::Method>& methods, int points) {
  std::vector<face::Evaluation> evaluations;
  face::EvaluationOptions options;
  options.ids = face::ibug(points).ids;
  for (const face::Method& method : methods) {
    // IntraFace has 49 points only.
    if (method.predictions.ids.size() < options.ids.size()) continue;
    evaluations.push_back(face::evaluate(truth, method.predictions, options));
    evaluations.back().name = method.name;
  }
  return evaluations;
}

Table add_errors(const std::vector<face::Evaluation>& evaluations,
                 const std::vector<face::Method>& methods, Results& results) {
  Table table{
      {{"method", "mean %", "median %", "over 8 %: %", "AUC 8 %: %", "no answer", "us a face"}}};
  for (const face::Evaluation& e : evaluations) {
    const std::string name = fmt::format("lfpw_{}_points", e.markup.size());
    results.add(name, e.name, "mean_percent", 100 * e.mean, "%");
    results.add(name, e.name, "median_percent", 100 * e.median, "%");
    results.add(name, e.name, "failures_over_8_percent", 100 * e.failure_rate, "%");
    results.add(name, e.name, "auc_8_percent", 100 * e.auc, "%");
    results.add(name, e.name, "missing", e.missing, "faces");
    const auto method = std::find_if(methods.begin(), methods.end(),
                                     [&](const face::Method& m) { return m.name == e.name; });
    std::string time = "-";
    if (!method->seconds.empty()) {
      results.add(name, e.name, "time_us", method->microseconds(), "us");
      time = fmt::format("{:.0f}", method->microseconds());
    }
    table.lines.push_back({e.name, percent(e.mean), percent(e.median), percent(e.failure_rate),
                           percent(e.auc), std::to_string(e.missing), time});
  }
  return table;
}

/// Mean error where the mean shape is put by the box (0) and after each stage of a model.
Series stage_errors(const std::string& name, const face::Model& model, face::Annotations truth,
                    const face::MethodRunOptions& options, Results& results) {
  const face::BoxConvention convention = model.convention(kDetector);
  std::vector<face::Method> methods(1);
  methods[0].predictions.ids = face::ibug(68).ids;
  methods[0].find = [&](image::ByteView, const face::Box& box) {
    face::Shape start(2, model.points());
    convention.similarity(box).to_image(model.mean, start);
    return start;
  };
  for (int stage = 1; stage <= int(model.maps.size()); ++stage)
    methods.push_back(face::model_method("", model, convention, stage));
  face::run_methods(truth, methods, opencv::read_grey, options);
  Series series{name, {}, {}};
  for (std::size_t stage = 0; stage < methods.size(); ++stage) {
    const double mean = 100 * face::evaluate(truth, methods[stage].predictions).mean;
    results.add("stages", name, "mean_percent", mean, "%", {{"stage", stage}});
    series.x.push_back(double(stage));
    series.y.push_back(mean);
  }
  return series;
}

Table reported_elsewhere() {
  return {{{"method", "mean %", "on"},
           {"SDM, the paper", "3.47", "LFPW test, 245 of 300 images, 29 points"},
           {"Cao et al., in the paper", "3.43", "LFPW test, 29 points"},
           {"PO-CR", "3.35", "LFPW and HELEN test, 49 points, own training data"},
           {"CLNF", "2.92", "LFPW and HELEN test, 49 points, own training data"},
           {"CFSS", "2.77", "LFPW and HELEN test, 49 points, own training data"},
           {"CE-CLM", "2.51", "LFPW and HELEN test, 49 points, own training data"}}};
}

/// The methods on the same faces.
struct Comparison {
  face::Annotations truth;
  std::vector<face::Method> methods;
  face::MethodRun run;
  std::vector<face::Evaluation> all, inner;  // 68 and 49 points
};

/// Writes the faces as pictures, truth green and prediction red.
Gallery show_faces(const fs::path& output, const std::string& name,
                   const std::vector<std::size_t>& faces, const Comparison& c) {
  Gallery gallery;
  for (std::size_t k = 0; k < faces.size(); ++k) {
    const face::Annotation& face = c.truth.faces[faces[k]];
    const fs::path file = fmt::format("{}_{:02}.jpg", name, k + 1);
    opencv::write_image(output / "faces" / file,
                        opencv::face_tile(opencv::read_colour(c.truth.path(face)), face.points,
                                          c.methods[0].predictions.faces[faces[k]].points, 240));
    gallery.pictures.push_back({file, fmt::format("{:.1f} %, {}", 100 * c.all[0].errors[faces[k]],
                                                  fs::path(face.file).stem().string())});
  }
  return gallery;
}

std::vector<Exhibit> show(const ExperimentContext& context, const Comparison& c, LineChart stages,
                          const Table& all_table, const Table& inner_table) {
  LineChart curve68 = error_curves(c.all), curve49 = error_curves(c.inner);
  curve68.title = "68 points";
  curve49.title = "49 inner points";
  stages.title = "mean error by stage, 68 points";
  stages.x_label = "stage";
  stages.y_label = "percent of the outer eye corners' distance";
  const std::vector<std::size_t> order = face::worst_first(c.all[0], int(c.all[0].errors.size()));
  const auto shown = std::min<std::ptrdiff_t>(kShown, std::ptrdiff_t(order.size()));
  const auto middle = order.begin() + (std::ptrdiff_t(order.size()) - shown) / 2;
  std::string about = fmt::format(
      "All {} faces of 300-W's LFPW test images, boxes of OpenCV's {}; {} faces without a box "
      "start "
      "from a perturbed true one. Errors are in percent of the distance of the outer eye corners. "
      "dlib's shipped model starts from the boxes of dlib's own detector and has very likely seen "
      "these images in its training, which was on 300-W: no peer on equal terms.",
      c.truth.faces.size(), kDetector, c.run.from_truth);
  if (context.peers.empty())
    about +=
        " Regression trees trained by dlib on the same faces as ours can be given with --peer (see "
        "bench/dlib_ert.cpp).";
  return {
      {"error_curves", "Landmarks of LFPW: cumulative error",
       "Section 6.3, CED curves on LFPW (17 of 29 points, 245 images): SDM lies above Belhumeur et "
       "al. and above one linear regression.",
       about, Figure{{curve68, curve49}, 2}},
      {"errors_68", "Errors, 68 points",
       "Mean error 3.47 % against 3.43 % of Cao et al., 29 points; the C++ implementation takes "
       "around 11 ms a frame.",
       "Other points and another normaliser than the paper's: compare methods within the table. "
       "The time is the processor time of finding the points in a given box, the median over "
       "faces.",
       all_table},
      {"errors_49", "Errors, 49 inner points: the authors' own software", "",
       "IntraFace is the software the authors released; its points on these images were stored, "
       "so that it has no time here.",
       inner_table},
      {"elsewhere", "Reported elsewhere", "",
       "Not measured here, for orientation. LFW-A&C, the paper's second set (RMSE 2.7 px against "
       "PRA's 2.8), is not at hand; who has it runs this with --set.",
       reported_elsewhere()},
      {"stages", "Error by stage",
       "Section 6.3 compares the whole cascade with one linear regression, its first stage alone.",
       "0 is the mean shape put by the detector's box.", Figure{{stages}, 1}},
      {"worst", "The ten worst faces", "Section 6.3 shows its ten worst faces, too.",
       fmt::format("{}: truth green, found red.", kAccurate),
       show_faces(context.output, "worst", {order.begin(), order.begin() + shown}, c)},
      {"typical", "Ten faces around the median", "", "",
       show_faces(context.output, "typical", {middle, middle + shown}, c)}};
}

std::vector<Claim> claim(const ExperimentContext& context, const Results& results) {
  const auto mean = [&](int points, const std::string& method) {
    const Results::Row* row =
        results.find(fmt::format("lfpw_{}_points", points), method, "mean_percent");
    return row == nullptr ? "-" : fmt::format("{:.2f} %", row->value);
  };
  const auto time = [&](const std::string& method) {
    const Results::Row* row = results.find("lfpw_68_points", method, "time_us");
    return row == nullptr ? "-" : fmt::format("{:.0f} us", row->value);
  };
  std::string others = fmt::format("IntraFace {} (49 points)", mean(49, kAuthors));
  for (const std::string& peer : context.peers)
    others +=
        fmt::format("; {0} {1} (68)", named_file(peer).first, mean(68, named_file(peer).first));
  others += fmt::format("; dlib shipped {} (68, has likely seen them)", mean(68, kDlib));
  return {
      {"Landmarks in photographs, LFPW test: mean error", "3.47 % (29 points, inter-ocular)",
       fmt::format("{} (68 points), {} (49), outer eye corners", mean(68, kAccurate),
                   mean(49, kAccurate)),
       others},
      {"Landmarks: the cascade against one linear regression", "cascade better",
       fmt::format("{} against {}", mean(68, kAccurate), mean(68, kLinear)), "-"},
      {"Landmarks: time of a face, box given", "about 11 ms a frame",
       fmt::format("{} accurate, {} fast", time(kAccurate), time(kFast)), "dlib " + time(kDlib)}};
}

void measure(const ExperimentContext& context, const fs::path& folder, Results& results) {
  const face::Model accurate = face::Model::load(context.shipped_file("face68.sdm"));
  const face::Model fast = face::Model::load(context.shipped_file("face68-fast.sdm"));
  Comparison c;
  c.truth = face::read_annotations(folder / "lfpw_test.csv");
  face::give_boxes(c.truth, face::read_boxes(folder / "lfpw_test_boxes.csv", kDetector));
  c.methods = make_methods(context, folder, c.truth, accurate, fast);

  cv::setNumThreads(1);  // pictures are read in parallel
  face::MethodRunOptions options;
  options.model = accurate;
  options.convention = accurate.convention(kDetector);
  options.clock = processor_seconds;
  options.seed = context.seed;
  options.threads = context.threads;
  options.progress = [&](double share) { context.report(0.1 * share, "finding landmarks"); };
  c.run = face::run_methods(c.truth, c.methods, opencv::read_grey, options);
  if (!c.run.unreadable.empty()) throw Error(c.run.unreadable.front());
  c.all = evaluate_all(c.truth, c.methods, 68);
  c.inner = evaluate_all(c.truth, c.methods, 49);
  for (const face::Evaluation& e : c.all)
    for (std::size_t i = 0; i < e.errors.size(); ++i)
      results.add("face", e.name, "error_percent", 100 * e.errors[i], "%",
                  {{"file", c.truth.faces[i].file}});
  const Table all_table = add_errors(c.all, c.methods, results),
              inner_table = add_errors(c.inner, c.methods, results);
  context.say("68 points\n" + format_table(all_table.lines));
  context.say("49 points\n" + format_table(inner_table.lines));

  LineChart stages;
  options.progress = [&](double share) { context.report(0.1 + 0.05 * share, "stages"); };
  stages.series.push_back(stage_errors(kAccurate, accurate, c.truth, options, results));
  options.progress = [&](double share) { context.report(0.15 + 0.05 * share, "stages"); };
  stages.series.push_back(stage_errors(kFast, fast, c.truth, options, results));

  results.exhibits = show(context, c, stages, all_table, inner_table);
  results.claims = claim(context, results);
  results.settings["faces"] = c.truth.faces.size();
  results.settings["normaliser"] = "outer eye corners (points 36 and 45)";
  results.settings["detector"] = kDetector;
  results.settings["boxes_from_truth"] = c.run.from_truth;
  results.settings["models"] = "face68.sdm and face68-fast.sdm, as shipped";
  measure_turned(context, folder, accurate, turned_methods(context, accurate, fast), results);
  measure_covered(context, folder, {{"SDM accurate", &accurate}, {"SDM fast", &fast}}, results);
  measure_degraded(context, folder, accurate, fast, results);
  measure_29_points(context, folder, results);
}

}  // namespace

Results run_faces(const ExperimentContext& context) {
  if (!context.set.empty()) return run_face_set(context);
  Results results("faces");
  fs::path folder;
  try {
    folder = find_data(context, "faces");
  } catch (const NoData&) {
    if (!context.data.empty()) throw;
  }
  if (fs::exists(folder / "lfpw_test.csv"))
    measure(context, folder, results);
  else
    show_photographs(context, results);
  return results;
}

}  // namespace sdm::experiments
