#include "experiments/faces/faces_covered.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sdm/face/aligner.h"
#include "sdm/face/data/annotations.h"
#include "sdm/face/data/markup.h"
#include "sdm/face/data/roc.h"
#include "sdm/face/train/train_visibility.h"
#include "sdm/opencv/image.h"

namespace sdm::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kQuickFaces = 30;

using PointScores = std::vector<face::ScoredFit>;  // a point each

/// Mean, over ten equal ranges of what is said, of how far it is from what is true.
double calibration_error(const PointScores& points) {
  std::array<double, 10> said{}, is{};
  for (const face::ScoredFit& point : points) {
    const auto range = std::size_t(std::min(9.0, 10 * point.score));
    said[range] += point.score;
    is[range] += point.good ? 1 : 0;
  }
  double sum = 0;
  for (std::size_t k = 0; k < said.size(); ++k) sum += std::abs(said[k] - is[k]);
  return sum / double(points.size());
}

}  // namespace

void measure_covered(const ExperimentContext& context, const fs::path& folder,
                     const std::vector<std::pair<std::string, const face::Model*>>& models,
                     Results& results) {
  const fs::path file = folder / "dev.csv";
  if (!fs::exists(file)) return context.say("covered faces left out: there is no " + file.string());
  const face::Annotations truth = face::read_annotations(file);
  std::vector<face::TrainingFace> faces;
  for (const face::Annotation& face : truth.faces) {
    if (context.quick && faces.size() == kQuickFaces) break;
    faces.push_back({opencv::read_grey(truth.path(face)), face.points, {}});
  }
  const face::FaceParts parts = face::ibug(68).parts();
  const std::pair<const char*, const std::vector<int>&> names[] = {{"jaw", parts.jaw},
                                                                   {"brows", parts.brows},
                                                                   {"nose", parts.nose},
                                                                   {"eyes", parts.eyes},
                                                                   {"mouth", parts.mouth}};
  Table table{{{"area under the curve", "all points"}}};
  for (const auto& [name, points] : names) table.lines[0].push_back(name);
  table.lines[0].push_back("calibration error");
  for (const auto& [name, model] : models) {
    if (!model->visibility.known()) continue;
    face::Aligner aligner(*model);
    std::vector<PointScores> of_point(std::size_t(model->points()));
    PointScores all;
    for (std::size_t i = 0; i < faces.size(); ++i)
      for (int trial = 0; trial < face::kVisibilityTrials; ++trial) {
        const face::CoveredFace covered = face::covered_face(faces, *model, i, trial, context.seed);
        const face::Alignment& fit = aligner.align_from(covered.picture, covered.start);
        const float unit = face::fit_similarity(model->mean, faces[i].truth).scale();
        for (std::size_t p = 0; p < of_point.size(); ++p) {
          const float off = (fit.points.col(Index(p)) - faces[i].truth.col(Index(p))).norm() / unit;
          const bool right = covered.bare[p] && off < face::kRightPoint;
          of_point[p].push_back({double(fit.visible[Index(p)]), right});
          all.push_back(of_point[p].back());
        }
      }
    std::vector<std::string> line = {name, fmt::format("{:.3f}", face::roc(all).area)};
    results.add("covered", name, "area_under_curve", face::roc(all).area, "");
    for (const auto& [part, points] : names) {
      PointScores some;
      for (const int p : points)
        some.insert(some.end(), of_point[std::size_t(p)].begin(), of_point[std::size_t(p)].end());
      line.push_back(fmt::format("{:.3f}", face::roc(some).area));
      results.add("covered", name, "area_under_curve", face::roc(some).area, "", {{"part", part}});
    }
    line.push_back(fmt::format("{:.3f}", calibration_error(all)));
    results.add("covered", name, "calibration_error", calibration_error(all), "");
    table.lines.push_back(std::move(line));
  }
  if (table.lines.size() == 1) return;
  context.say("points seen and right, covered faces\n" + format_table(table.lines));
  results.exhibits.push_back(
      {"covered", "Facial landmarks: which points are seen", "",
       fmt::format("{} faces of dev.csv, each as it is and twice with something before it (a piece "
                   "of another picture, or grey): each point's probability of being bare and "
                   "within {} of the eye distance, against whether it is.",
                   faces.size(), face::kRightPoint),
       std::move(table)});
}

}  // namespace sdm::experiments
