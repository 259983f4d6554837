#include "experiments/faces/face_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <opencv2/core/utility.hpp>

#include "report/error_curves.h"
#include "report/machine.h"
#include "report/named_file.h"
#include "sdm/base/error.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/evaluation.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/data/methods.h"
#include "sdm/face/data/read_pictures.h"
#include "sdm/face/train/trainer.h"
#include "sdm/opencv/detector.h"
#include "sdm/opencv/image.h"
#include "sdm/opencv/picture_size.h"

namespace sdm::experiments {
namespace {

namespace fs = std::filesystem;

constexpr char kSetDetector[] = "haar_alt2";

/// One side of the set: the faces that were detected, and how many there are.
struct Split {
  face::Annotations faces;
  std::size_t all = 0;
  std::string boxes_of;

  double detection_rate() const {
    return double(faces.faces.size()) / double(std::max<std::size_t>(1, all));
  }
};

std::vector<fs::path> files_of(const face::Annotations& annotations) {
  std::vector<fs::path> files;
  for (const face::Annotation& face : annotations.faces) files.push_back(annotations.path(face));
  return files;
}

void read_all(const face::Annotations& annotations, const ExperimentContext& context,
              const face::PictureWork& work) {
  ThreadPool pool(context.threads);
  for (const std::string& failure :
       face::read_pictures(files_of(annotations), opencv::read_grey, pool, work))
    if (!failure.empty()) throw Error(failure);
}

void detect_boxes(face::Annotations& annotations, const ExperimentContext& context) {
  ThreadPool pool(context.threads);
  std::vector<face::BoxDetector> detectors;
  for (int i = 0; i < pool.threads(); ++i)
    detectors.push_back(opencv::make_detector(kSetDetector, {}));
  face::PictureWork work;
  work.in_parallel = [&](std::size_t i, image::ByteView grey, int worker) {
    face::Annotation& face = annotations.faces[i];
    const Eigen::Vector2f middle = face::bounds(face.points).center();
    std::vector<face::Box> boxes = detectors[std::size_t(worker)](grey);
    std::erase_if(boxes, [&](const face::Box& box) {
      return !(middle.x() > box.x && middle.x() < box.x + box.width && middle.y() > box.y &&
               middle.y() < box.y + box.height);
    });
    face::give_box(face, boxes);
  };
  read_all(annotations, context, work);
}

Split read_split(const fs::path& path, const ExperimentContext& context) {
  Split split;
  split.faces = face::read_annotations(path, {.size_of = [](const fs::path& picture) {
                                         const cv::Size size = opencv::picture_size(picture);
                                         return face::PictureSize{size.width, size.height};
                                       }});
  split.all = split.faces.faces.size();
  const auto has_box = [](const face::Annotation& face) { return face.box.has_value(); };
  if (const fs::path boxes = face::boxes_beside(path); fs::exists(boxes)) {
    const face::BoxTable table = face::read_box_table(boxes);
    split.boxes_of = table.by_preference().front();
    face::give_boxes(split.faces, table.of(split.boxes_of));
  } else if (std::none_of(split.faces.faces.begin(), split.faces.faces.end(), has_box)) {
    split.boxes_of = kSetDetector;
    detect_boxes(split.faces, context);
  } else {
    split.boxes_of = "box";
  }
  std::erase_if(split.faces.faces, [&](const face::Annotation& face) { return !has_box(face); });
  if (split.faces.faces.empty())
    throw Error(fmt::format("{}: no face of it has a box", path.string()));
  return split;
}

face::Model train_on(const Split& split, const std::string& preset,
                     const ExperimentContext& context, double from, double to) {
  const face::Markup markup = face::markup_of(split.faces.ids);
  face::TrainerOptions options = face::TrainerOptions::preset(preset, markup.parts());
  options.mirror = markup.mirror;
  options.unit = markup.unit;
  options.point_names = face::point_names(split.faces);
  options.detectors = {split.boxes_of};
  options.seed = context.seed;
  options.threads = context.threads;
  options.name = options.provenance = fmt::format("preset {}", preset);
  std::vector<face::TrainingFace> faces(split.faces.faces.size());
  face::PictureWork work;
  work.in_parallel = [&](std::size_t i, image::ByteView grey, int) {
    const face::Annotation& face = split.faces.faces[i];
    faces[i] = face::trim(grey, face.points, {*face.box}, options.recipe);
  };
  read_all(split.faces, context, work);
  face::TrainerObserver observer;
  observer.progress = [&](const TrainProgress& at) {
    context.report(from + (to - from) * at.stage / std::max(1, at.stages),
                   fmt::format("training, preset {}", preset));
  };
  return face::train(faces, {}, options, observer).model;
}

}  // namespace

Results run_face_set(const ExperimentContext& context) {
  const auto [name, both] = named_file(context.set);
  const std::string files = both.string();
  const std::size_t comma = files.find(',');
  if (comma == std::string::npos)
    throw Error(
        fmt::format("--set {}: expected NAME=TRAIN,TEST, two files of annotations", context.set));
  const fs::path train_path = files.substr(0, comma), test_path = files.substr(comma + 1);
  cv::setNumThreads(1);  // pictures are read in parallel
  Split train = read_split(train_path, context), test = read_split(test_path, context);
  face::require_same_points(face::point_names(test.faces), test_path.string(),
                            face::point_names(train.faces), train_path.string());
  if (test.faces.ids != train.faces.ids)
    throw Error(
        fmt::format("{} has other points than {}", test_path.string(), train_path.string()));
  if (context.quick && train.faces.faces.size() > 100) train.faces.faces.resize(100);

  const face::Model paper = train_on(train, "paper", context, 0, 0.3),
                    accurate = train_on(train, "accurate", context, 0.3, 0.9);
  std::vector<face::Method> methods;
  methods.push_back(face::model_method("SDM, the paper's settings", paper, paper.convention()));
  methods.push_back(face::model_method("one linear stage", paper, paper.convention(), 1));
  methods.push_back(face::model_method("SDM, preset accurate", accurate, accurate.convention()));
  face::MethodRunOptions options;
  options.clock = processor_seconds;
  options.threads = context.threads;
  options.progress = [&](double share) { context.report(0.9 + 0.1 * share, "measuring"); };
  const face::MethodRun run = face::run_methods(test.faces, methods, opencv::read_grey, options);
  if (!run.unreadable.empty()) throw Error(run.unreadable.front());

  Results results("faces");
  Table table{{{"method", "mean RMSE px", "median RMSE px", "over 10 px: %", "us a face"}}};
  std::vector<face::Evaluation> evaluations;
  for (const face::Method& method : methods) {
    face::EvaluationOptions pixels;
    pixels.normaliser = face::Normaliser::pixels;
    evaluations.push_back(face::evaluate(test.faces, method.predictions, pixels));
    face::Evaluation& e = evaluations.back();
    e.name = method.name;
    results.add(name, e.name, "mean_rmse_px", e.mean, "px");
    results.add(name, e.name, "median_rmse_px", e.median, "px");
    results.add(name, e.name, "over_10_px_percent", 100 * e.failure_rate, "%");
    results.add(name, e.name, "time_us", method.microseconds(), "us");
    table.lines.push_back({e.name, fmt::format("{:.2f}", e.mean), fmt::format("{:.2f}", e.median),
                           fmt::format("{:.2f}", 100 * e.failure_rate),
                           fmt::format("{:.0f}", method.microseconds())});
  }
  results.add(name, test.boxes_of, "detected_percent", 100 * test.detection_rate(), "%");
  table.lines.push_back({"SDM, the paper on LFW-A&C", "2.7", "-", "-", "about 11,000"});
  table.lines.push_back({"PRA, in the paper on LFW-A&C", "-", "2.8", "-", "-"});
  context.say(format_table(table.lines));

  LineChart curves = error_curves(evaluations);
  curves.title = name;
  const std::string about = fmt::format(
      "{}: trained on {} of {} faces, measured on {} of {} ({:.1f} % detected, boxes of {}), {} "
      "points. Errors are root mean squares over a face's points, in pixels of the pictures as "
      "they are: they compare with the paper's only where the pictures do (250 x 250 on LFW-A&C).",
      name, train.faces.faces.size(), train.all, test.faces.faces.size(), test.all,
      100 * test.detection_rate(), test.boxes_of, test.faces.ids.size());
  const std::string said =
      "Section 6.3, LFW-A&C: 66 points, 604 training images; RMSE 2.7 px on average against PRA's "
      "median of 2.8; 98.7 % of faces detected; better than one linear regression.";
  results.exhibits = {
      {"set_errors", "Errors on " + name, said, about, table},
      {"set_curves", "Cumulative errors on " + name, said, about, Figure{{curves}, 1}}};
  results.claims = {{fmt::format("Landmarks on {}: root mean square error", name),
                     "2.7 px, the mean on LFW-A&C (PRA: median 2.8)",
                     fmt::format("{:.2f} px with the paper's settings, {:.2f} px with ours",
                                 evaluations[0].mean, evaluations[2].mean),
                     fmt::format("one linear stage {:.2f} px", evaluations[1].mean)}};
  results.settings["set"] = name;
  results.settings["training_faces"] = train.faces.faces.size();
  results.settings["faces"] = test.faces.faces.size();
  results.settings["normaliser"] = "none: pixels, root mean square over the points of a face";
  results.settings["detector"] = test.boxes_of;
  return results;
}

}  // namespace sdm::experiments
