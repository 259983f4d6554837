// Landmarks of one's own: how many labelled pictures it takes.
#include <fmt/format.h>

#include <algorithm>
#include <opencv2/core/utility.hpp>

#include "adapters/peers/leaves.h"
#include "adapters/peers/wings.h"
#include "experiments/landmarks/learning_curve.h"
#include "experiments/registry.h"
#include "report/plot.h"
#include "sdm/base/random.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/markup.h"
#include "sdm/opencv/image.h"

namespace sdm::experiments {
namespace {

namespace fs = std::filesystem;

LandmarkSet wing_set(const fs::path& folder, bool quick) {
  LandmarkSet set;
  set.name = "wings";
  set.faces = peers::read_wings(folder, opencv::read_grey);
  set.sizes = {10, 20, 40, 80};
  if (quick) {  // one part in place of five
    const std::size_t held_out = set.faces.size() / 3;
    set.test.assign(set.faces.end() - std::ptrdiff_t(held_out), set.faces.end());
    set.faces.resize(set.faces.size() - held_out);
    set.sizes = {20};
    set.budget = 2;
  }
  return set;
}

LandmarkSet leaf_set(std::uint64_t seed, bool quick) {
  constexpr int kTest = 200;
  LandmarkSet set;
  set.name = "leaves";
  set.test = peers::draw_leaves(seed, 0, quick ? 50 : kTest);
  set.sizes = {10, 20, 40, 80, 160, 320};
  if (quick) set.sizes = {10, 40}, set.budget = 2;
  set.faces = peers::draw_leaves(seed, kTest, set.sizes.back());
  return set;
}

// So many faces that the detector found, drawn at random: the file has them by origin.
std::vector<face::TrainingFace> read_faces(const fs::path& file, const std::string& detector,
                                           std::size_t most, std::uint64_t seed) {
  face::Annotations faces = face::read_annotations(file);
  face::give_boxes(faces, face::read_boxes(face::boxes_beside(file), detector));
  std::erase_if(faces.faces, [](const face::Annotation& face) { return !face.box; });
  Random random(seed, "faces of the learning curve");
  shuffle(faces.faces, random);
  std::vector<face::TrainingFace> read;
  for (std::size_t i = 0; i < std::min(most, faces.faces.size()); ++i) {
    const face::Annotation& face = faces.faces[i];
    read.push_back({opencv::read_grey(faces.path(face)), face.points, {*face.box}});
  }
  return read;
}

LandmarkSet face_set(const fs::path& folder, std::uint64_t seed, bool quick) {
  LandmarkSet set;
  set.name = "faces";
  set.unit = "%";
  const face::Markup markup = face::ibug(68);
  set.over = markup.unit;
  set.mirror = markup.mirror;
  set.sizes = {10, 20, 40, 80, 160, 640};
  if (quick) set.sizes = {10, 40};
  set.faces = read_faces(folder / "train.csv", "haar_alt2", std::size_t(set.sizes.back()), seed);
  set.test = read_faces(folder / "dev.csv", "haar_alt2", quick ? 50 : 400, seed);
  set.budget = quick ? 2 : 10;
  set.faces_to_choose_by = 80;
  set.most_for_trees = quick ? 0 : 160;
  return set;
}

void add_set(const ExperimentContext& context, const LandmarkSet& set, double from, double to,
             Results& results, Figure& figure, Table& table) {
  const std::vector<LearningPoint> points = learning_curve(
      set, context.seed, context.threads, [&](double share, const std::string& activity) {
        context.report(from + (to - from) * share, activity);
      });
  LineChart chart{
      set.name, "labelled pictures learned from",
      set.unit == "%" ? "mean error, % of the outer eye corners" : "mean point error, pixels"};
  chart.log_x = true;
  for (const LearningPoint& point : points) {
    const Results::Json samples{{"samples", point.samples}};
    results.add(set.name, point.method, "mean_error", point.error, set.unit, samples);
    results.add(set.name, point.method, "train_seconds", point.seconds, "s", samples);
    auto series = std::find_if(chart.series.begin(), chart.series.end(),
                               [&](const Series& one) { return one.name == point.method; });
    if (series == chart.series.end())
      series = chart.series.insert(series, Series{point.method, {}, {}});
    series->x.push_back(point.samples);
    series->y.push_back(point.error);
    table.lines.push_back({set.name, std::to_string(point.samples), point.method,
                           fmt::format("{:.2f} {}", point.error, set.unit),
                           fmt::format("{:.1f}", point.seconds)});
  }
  figure.charts.push_back(chart);
}

}  // namespace

Results run_landmarks(const ExperimentContext& context) {
  Results results("landmarks");
  cv::setNumThreads(1);
  Figure figure;
  figure.columns = 3;
  Table table{{{"objects", "pictures", "method", "error", "seconds to train"}}};
  std::string missing;
  // The data folder's part, where it is.
  const auto with_data = [&](const std::string& name, const std::vector<std::string>& files,
                             const auto& read, double from, double to) {
    try {
      const fs::path folder = find_data(context, name);
      for (const std::string& file : files)
        if (!fs::exists(folder / file)) throw NoData("there is no " + (folder / file).string());
      add_set(context, read(folder), from, to, results, figure, table);
    } catch (const NoData& error) {
      context.say(fmt::format("{} left out: {}", name, error.what()));
      missing += fmt::format(" Without {}: {}.", name, error.what());
    }
  };
  add_set(context, leaf_set(context.seed, context.quick), 0, 0.25, results, figure, table);
  with_data(
      "wings", {"wings.tps"},
      [&](const fs::path& folder) { return wing_set(folder, context.quick); }, 0.25, 0.5);
  with_data(
      "faces", {"train.csv", "train_boxes.csv", "dev.csv", "dev_boxes.csv"},
      [&](const fs::path& folder) { return face_set(folder, context.seed, context.quick); }, 0.5,
      1);
  context.say(format_table(table.lines));

  const std::string dlib =
      peers::have_dlib_trees()
          ? " dlib's regression trees learn from the same pictures: 10 cascades of 500 trees of "
            "depth 2, nu 0.05, 5 to 60 starts of each (faces mirrored as ours are, and up to 160 "
            "of them, as it takes long); `./run bench landmarks` compares with the best of a grid."
          : " Built without dlib.";
  results.settings["budget_seconds"] = "5, faces 10: of one core, as choose_options reckons";
  results.exhibits = {
      {"curves", "Learning curves: held-out error against the number of labelled pictures", "",
       "Settings are chosen by held-out error within the pictures learned from, with a small "
       "budget, as `sdm train` does without options. Leaves are drawn and measured on others; "
       "wings by 5-fold cross-validation, from their whole pictures; faces on the dev set, from "
       "OpenCV's boxes." +
           dlib + missing,
       figure},
      {"table", "The same numbers, and how long one training takes with the choice of settings", "",
       "", table}};
  return results;
}

}  // namespace sdm::experiments
