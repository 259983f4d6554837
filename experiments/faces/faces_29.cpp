#include "experiments/faces/faces_29.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "report/plot.h"
#include "sdm/face/aligner.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/evaluation.h"
#include "sdm/face/train/train_on_base.h"
#include "sdm/opencv/image.h"

namespace sdm::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFolds = 10;
constexpr int kLeftPupil = 16, kRightPupil = 17;
// The paper's curve: BioID's me17.
const std::vector<int> kSeventeen = {0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 20, 22, 23, 24, 27};

/// What one way of learning finds.
struct Learner {
  std::string name;
  face::BaseTrainerOptions options;
  std::vector<double> errors29{}, errors17{};  // of each face, over the distance of the pupils
};

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / double(values.size());
}

double error_over(const std::vector<int>& points, const face::Shape& found,
                  const face::Shape& truth) {
  double sum = 0;
  for (const int p : points) sum += double((found.col(p) - truth.col(p)).norm());
  return sum / double(points.size()) /
         double((truth.col(kLeftPupil) - truth.col(kRightPupil)).norm());
}

LineChart error_curve(const std::string& title, const std::vector<Learner>& learners,
                      std::vector<double> Learner::*errors) {
  LineChart chart{title, "error / distance of the pupils, percent", "share of faces"};
  chart.markers = false;
  std::vector<double> thresholds, percent;
  for (int i = 0; i <= 150; ++i) {
    thresholds.push_back(0.001 * i);
    percent.push_back(0.1 * i);
  }
  for (const Learner& one : learners)
    chart.series.push_back({fmt::format("{} ({:.2f} %)", one.name, 100 * mean_of(one.*errors)),
                            percent, face::cumulative(one.*errors, thresholds)});
  return chart;
}

}  // namespace

void measure_29_points(const ExperimentContext& context, const fs::path& folder, Results& results) {
  const fs::path file = folder / "lfpw_test_29.csv";
  if (!fs::exists(file)) return context.say("29 points left out: there is no " + file.string());
  const face::Annotations truth = face::read_annotations(file);
  const face::BoxTable table = face::read_box_table(folder / "lfpw_test_boxes.csv");
  const auto base =
      std::make_shared<const face::Model>(face::Model::load(context.shipped_file("face68.sdm")));

  face::BaseTrainerOptions options;
  options.detectors = table.by_preference();
  options.find_mirror = true;
  options.seed = context.seed;
  options.threads = context.threads;
  std::vector<Learner> learners = {{"stages on the 68 points", options},
                                   {"a linear map of the 68 points", options}};
  learners[1].options.stages = 0;

  const auto boxes = face::boxes_of(truth, table, options.detectors);
  face::Recipe recipe = base->recipe;
  recipe.unit = std::max(recipe.unit, options.unit);
  std::vector<image::Image<std::uint8_t>> pictures;
  std::vector<face::TrainingFace> faces;
  for (std::size_t i = 0; i < truth.faces.size(); ++i) {
    pictures.push_back(opencv::read_grey(truth.path(truth.faces[i])));
    faces.push_back(face::trim(pictures[i], truth.faces[i].points, boxes[i], recipe));
  }
  std::vector<int> all(std::size_t(truth.faces[0].points.cols()), 0);
  for (std::size_t p = 0; p < all.size(); ++p) all[p] = int(p);

  const std::size_t folds = context.quick ? 1 : kFolds;
  int from_truth = 0;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<face::TrainingFace> training;
    for (std::size_t i = 0; i < faces.size(); ++i)
      if (i % kFolds != fold) training.push_back(faces[i]);
    for (Learner& one : learners) {
      context.report(0.2 + 0.8 * double(fold) / double(folds), "29 points, cross-validation");
      const face::Model model = face::train_on_base(training, base, one.options).model;
      face::Aligner aligner(model);
      const face::BoxConvention& convention = model.convention(options.detectors[0]);
      for (std::size_t i = fold; i < faces.size(); i += kFolds) {
        const face::Shape& points = truth.faces[i].points;
        face::Box box = boxes[i][0];
        if (!(box.width > 0)) {
          box = face::perturbed_box(points, model.mean, convention, context.seed, i);
          from_truth += &one == &learners[0] ? 1 : 0;
        }
        const face::Shape& found = aligner.align(pictures[i], box, convention).points;
        one.errors29.push_back(error_over(all, found, points));
        one.errors17.push_back(error_over(kSeventeen, found, points));
        results.add("face_29", one.name, "error_percent", 100 * one.errors29.back(), "%",
                    {{"file", truth.faces[i].file}});
      }
    }
  }

  Table shown{{{"method", "29 points: mean %", "17 points: mean %", "29 points over 10 %: %"}}};
  for (const Learner& one : learners) {
    const double failures = 100 * (1 - face::cumulative(one.errors29, {0.1})[0]);
    results.add("lfpw_29_points", one.name, "mean_percent", 100 * mean_of(one.errors29), "%");
    results.add("lfpw_17_points", one.name, "mean_percent", 100 * mean_of(one.errors17), "%");
    results.add("lfpw_29_points", one.name, "failures_over_10_percent", failures, "%");
    shown.lines.push_back({one.name, fmt::format("{:.2f}", 100 * mean_of(one.errors29)),
                           fmt::format("{:.2f}", 100 * mean_of(one.errors17)),
                           fmt::format("{:.2f}", failures)});
  }
  shown.lines.push_back(
      {"SDM, the paper (884 training pictures, other test pictures)", "3.47", "-", "-"});
  shown.lines.push_back({"Cao et al., in the paper", "3.43", "-", "-"});
  context.say("29 points\n" + format_table(shown.lines));

  const std::string protocol = fmt::format(
      "{}-fold cross-validation over {} of LFPW's test pictures, fold = row number modulo {}{}; "
      "penalties, cells and the number of stages by held-out error within the training part. The "
      "paper trained on LFPW's own training labels, which cannot be had any more.",
      kFolds, truth.faces.size(), kFolds, context.quick ? " (the first fold alone)" : "");
  results.exhibits.push_back(
      {"errors_29", "The paper's 29 points", "Mean error 3.47 %, Cao et al. 3.43 %.",
       fmt::format("Learned on the shipped 68-point model by `sdm train --base`. {} Errors are in "
                   "percent of the distance of the pupils; boxes of OpenCV's {}, {} faces without "
                   "one start from a perturbed true one.",
                   protocol, options.detectors[0], from_truth),
       shown});
  results.exhibits.push_back(
      {"curves_29", "The paper's 29 points: cumulative error",
       "Section 6.3 has the curve of 17 of the 29 points.",
       "The 17 points leave out the middles of the brows, the eyelids, the nose's lower point, the "
       "lips' inner edges and the chin. The protocol is that of the table.",
       Figure{{error_curve("29 points", learners, &Learner::errors29),
               error_curve("17 points", learners, &Learner::errors17)},
              2}});
  results.claims.push_back(
      {"Landmarks in photographs, LFPW, the paper's 29 points: mean error", "3.47 %",
       fmt::format("{:.2f} % (17 points {:.2f} %); {}-fold cross-validation over {} test pictures, "
                   "on the 68-point model",
                   100 * mean_of(learners[0].errors29), 100 * mean_of(learners[0].errors17), kFolds,
                   truth.faces.size()),
       fmt::format("a linear map of the 68 points {:.2f} %; Cao et al. 3.43 %",
                   100 * mean_of(learners[1].errors29))});
  results.settings["protocol_29_points"] = protocol;
}

}  // namespace sdm::experiments
