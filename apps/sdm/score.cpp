#include "apps/sdm/score.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/sdm/progress.h"
#include "apps/sdm/tell.h"
#include "report/results.h"
#include "sdm/base/error.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/aligner.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/data/read_pictures.h"
#include "sdm/face/train/trial.h"
#include "sdm/opencv/image.h"

namespace sdm::app {

face::Roc score_curve(const face::Model& model, const face::Annotations& truth, std::uint64_t seed,
                      int threads) {
  const std::vector<int> ids = model.points() == 68 ? face::ibug(68).ids : truth.ids;
  if (Index(ids.size()) != model.points())
    throw Error(fmt::format("--score: the model has {} points, the truth {}", model.points(),
                            truth.ids.size()));
  std::vector<std::vector<face::ScoredFit>> fits(truth.faces.size());
  std::vector<std::filesystem::path> files;
  for (const face::Annotation& face : truth.faces) files.push_back(truth.path(face));
  Progress progress("scoring");
  ThreadPool pool(threads);
  face::PictureWork work;
  work.progress = [&](double share) { progress.update(share); };
  work.in_parallel = [&](std::size_t i, image::ByteView picture, int) {
    const face::Shape points = face::select(truth.faces[i].points, truth.ids, ids);
    if (!points.allFinite()) return;
    face::Aligner aligner(model);
    for (std::size_t kind = 0; kind < face::kTrialKinds.size(); ++kind) {
      const face::Trial trial =
          face::make_trial(face::kTrialKinds[kind], picture, points, model, seed, i);
      const face::Alignment& fit =
          aligner.align_from(trial.has_face() ? picture : trial.faceless.view(), trial.start);
      const bool good = trial.has_face() &&
                        face::unit_error(fit.points, points, model.mean) < double(face::kGoodFit);
      fits[i].push_back({double(fit.score), good});
    }
  };
  const std::vector<std::string> failures =
      face::read_pictures(files, opencv::read_grey, pool, work);
  progress.clear();
  for (const std::string& failure : failures)
    if (!failure.empty()) tell("sdm: not scored: {}\n", failure);
  std::vector<face::ScoredFit> all;
  for (const auto& some : fits) all.insert(all.end(), some.begin(), some.end());
  return face::roc(std::move(all));
}

nlohmann::ordered_json score_json(const face::Roc& curve) {
  return {{"good", curve.good},
          {"failed", curve.failed},
          {"auc", curve.area},
          {"true_positives_at_1_percent", curve.true_positives_at(0.01)},
          {"true_positives_at_half", curve.at(0.5).true_positives},
          {"false_alarms_at_half", curve.at(0.5).false_alarms}};
}

std::string score_table(const std::vector<std::string>& names,
                        const std::vector<face::Roc>& curves) {
  std::vector<std::vector<std::string>> lines{
      {"score", "good fits", "failed", "auc", "tp % at fa 1 %", "tp % at .5", "fa % at .5"}};
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const face::Roc& c = curves[i];
    lines.push_back({names[i], std::to_string(c.good), std::to_string(c.failed),
                     fmt::format("{:.5f}", c.area),
                     fmt::format("{:.2f}", 100 * c.true_positives_at(0.01)),
                     fmt::format("{:.2f}", 100 * c.at(0.5).true_positives),
                     fmt::format("{:.2f}", 100 * c.at(0.5).false_alarms)});
  }
  return report::format_table(lines);
}

report::LineChart score_chart(const std::vector<std::string>& names,
                              const std::vector<face::Roc>& curves) {
  report::LineChart chart{"Score: true positives against false alarms", "failed fits that pass",
                          "good fits that pass"};
  chart.markers = false;
  chart.log_x = true;
  for (std::size_t i = 0; i < curves.size(); ++i)
    chart.series.push_back({fmt::format("{} ({:.5f})", names[i], curves[i].area),
                            curves[i].false_alarms, curves[i].true_positives});
  return chart;
}

}  // namespace sdm::app
