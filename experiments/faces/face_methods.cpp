#include "experiments/faces/face_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <opencv2/core/utility.hpp>

#include "report/machine.h"
#include "report/statistics.h"
#include "sdm/base/error.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/aligner.h"
#include "sdm/face/data/boxes.h"
#include "sdm/opencv/detector.h"
#include "sdm/opencv/image.h"

namespace sdm::experiments {
namespace {

std::vector<int> ids_of(const face::Model& model) {
  const int points = int(model.points());
  if (points == 68 || points == 66 || points == 51 || points == 49) return face::ibug(points).ids;
  std::vector<int> ids(std::size_t(points), 0);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

bool holds(const face::Box& box, const face::Shape& points) {
  const Eigen::Vector2f centre = points.rowwise().mean();
  return centre.x() > box.x && centre.x() < box.x + box.width && centre.y() > box.y &&
         centre.y() < box.y + box.height;
}

void find_box(face::Annotation& face, image::ByteView picture, face::BoxDetector& detector) {
  std::vector<face::Box> boxes = detector(picture);
  std::erase_if(boxes, [&](const face::Box& box) { return !holds(box, face.points); });
  face::give_box(face, boxes);
}

void find_points(FaceMethod& method, const face::Annotation& face, std::size_t index,
                 image::ByteView picture) {
  const auto& box = method.boxes.empty() ? face.box : method.boxes.at(index);
  face::Annotation prediction{face.file, face::Shape(2, 0), box};
  if (!picture.empty() && box) {
    if (method.seconds.empty()) method.find(picture, *box);  // the first call warms up
    const double start = report::processor_seconds();
    prediction.points = method.find(picture, *box);
    method.seconds.push_back(report::processor_seconds() - start);
  }
  method.predictions.faces.push_back(std::move(prediction));
}

}  // namespace

double FaceMethod::microseconds() const { return 1e6 * report::finite_median(seconds); }

FaceMethod model_method(std::string name, face::Model model, const face::BoxConvention& convention,
                        int stages) {
  if (stages > 0) {
    model.maps.resize(std::size_t(stages));
    model.recipe.stages.resize(std::size_t(stages));
    model.confidence = {};  // it is the last stage's
  }
  FaceMethod method;
  method.name = std::move(name);
  method.predictions.ids = ids_of(model);
  const auto kept = std::make_shared<face::Model>(std::move(model));
  const auto aligner = std::make_shared<face::Aligner>(*kept);
  method.find = [kept, aligner, convention](image::ByteView grey, const face::Box& box) {
    return aligner->align(grey, box, convention).points;
  };
  return method;
}

FaceMethod predicted_method(std::string name, const face::Annotations& truth,
                            const face::Annotations& predictions) {
  FaceMethod method;
  method.name = std::move(name);
  method.predictions = face::match(truth, predictions);
  return method;
}

std::pair<std::string, std::filesystem::path> named_file(const std::string& text) {
  namespace fs = std::filesystem;
  const std::size_t split = text.find('=');
  if (split == std::string::npos || fs::exists(text)) return {fs::path(text).stem().string(), text};
  return {text.substr(0, split), text.substr(split + 1)};
}

FaceRun run_methods(face::Annotations& truth, std::vector<FaceMethod>& methods,
                    const FaceRunOptions& options) {
  cv::setNumThreads(1);
  ThreadPool pool(options.threads);
  std::vector<face::BoxDetector> detectors;
  for (int i = 0; options.detect && i < pool.threads(); ++i)
    detectors.push_back(opencv::make_detector(options.convention.detector));

  FaceRun run;
  const std::size_t count = truth.faces.size(), chunk = 128;  // pictures in memory at a time
  for (std::size_t first = 0; first < count; first += chunk) {
    const std::size_t size = std::min(chunk, count - first);
    std::vector<image::Image<std::uint8_t>> pictures(size);
    std::vector<std::string> errors(size);
    pool.run(Index(size), [&](Index i, int thread) {
      face::Annotation& face = truth.faces[first + std::size_t(i)];
      try {
        pictures[std::size_t(i)] = opencv::read_grey(truth.path(face));
        if (!detectors.empty())
          find_box(face, pictures[std::size_t(i)], detectors[std::size_t(thread)]);
      } catch (const Error& error) {
        errors[std::size_t(i)] = error.what();
      }
    });
    for (std::size_t i = 0; i < size; ++i) {
      face::Annotation& face = truth.faces[first + i];
      const image::ByteView picture = pictures[i];
      if (!errors[i].empty()) run.unreadable.push_back(errors[i]);
      if (!picture.empty() && !face.box && options.model) {
        const face::Shape points = face::select(face.points, truth.ids, ids_of(*options.model));
        face.box = face::perturbed_box(points, options.model->mean, options.convention,
                                       options.seed, first + i);
        ++run.from_truth;
      }
      for (FaceMethod& method : methods)
        if (method.find) find_points(method, face, first + i, picture);
    }
    if (options.progress) options.progress(double(first + size) / double(count));
  }
  return run;
}

std::vector<std::size_t> worst_first(const face::Evaluation& result, int count) {
  std::vector<std::size_t> order(result.errors.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return result.errors[a] > result.errors[b];
  });
  order.resize(std::min(order.size(), std::size_t(std::max(0, count))));
  return order;
}

report::LineChart error_curves(const std::vector<face::Evaluation>& results) {
  report::LineChart chart;
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
  return chart;
}

}  // namespace sdm::experiments
