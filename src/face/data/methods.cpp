#include "sdm/face/data/methods.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <numeric>

#include "base/formatted.h"
#include "sdm/base/error.h"
#include "sdm/face/aligner.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/evaluation.h"

namespace sdm::face {
namespace {

// Names that are the points' numbers in their markup.
bool are_numbers(const std::vector<std::string>& names) {
  return !names.empty() && std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return !name.empty() && name.size() <= 6 &&
           name.find_first_not_of("0123456789") == std::string::npos;
  });
}

std::vector<int> ids_of(const Model& model) {
  const int points = int(model.points());
  if (are_numbers(model.point_names)) {
    std::vector<int> ids;
    for (const std::string& name : model.point_names) ids.push_back(std::stoi(name));
    return ids;
  }
  // A face's, unless it was not trained as one: 49 points of something else are its own.
  if (model.point_names.empty() && (points == 68 || points == 66 || points == 51 || points == 49) &&
      (model.mirror.empty() || model.mirror == ibug(points).mirror) &&
      model.convention().detector != kWholePicture)
    return ibug(points).ids;
  std::vector<int> ids(std::size_t(points), 0);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

bool holds(const Box& box, const Shape& points) {
  const Eigen::Vector2f centre = bounds(points).center();  // of those that are known
  return centre.x() > box.x && centre.x() < box.x + box.width && centre.y() > box.y &&
         centre.y() < box.y + box.height;
}

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void find_points(Method& method, const Annotation& face, std::size_t index, image::ByteView picture,
                 const std::function<double()>& clock) {
  const auto& box = method.boxes.empty() ? face.box : method.boxes.at(index);
  Annotation prediction{face.file, Shape(2, 0), box};
  if (!picture.empty() && box) {
    if (method.seconds.empty()) method.find(picture, *box);  // the first call warms up
    const double start = clock();
    prediction.points = method.find(picture, *box);
    method.seconds.push_back(clock() - start);
  }
  method.predictions.faces.push_back(std::move(prediction));
}

}  // namespace

double Method::microseconds() const {
  if (seconds.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted = seconds;
  const auto middle = sorted.begin() + std::ptrdiff_t(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return 1e6 * *middle;
}

Method model_method(std::string name, Model model, const BoxConvention& convention, int stages) {
  if (stages > 0 && std::size_t(stages) < model.maps.size()) {
    model.maps.resize(std::size_t(stages));
    model.recipe.stages.resize(std::size_t(stages));
    model.confidence = {};  // it is the last stage's
  }
  Method method;
  method.name = std::move(name);
  method.predictions.ids = ids_of(model);
  if (!are_numbers(model.point_names)) method.predictions.names = model.point_names;
  const auto kept = std::make_shared<Model>(std::move(model));
  const auto aligner = std::make_shared<Aligner>(*kept);
  method.find = [kept, aligner, convention](image::ByteView grey, const Box& box) {
    return aligner->align(grey, box, convention).points;
  };
  return method;
}

Method predicted_method(std::string name, const Annotations& truth,
                        const Annotations& predictions) {
  Method method;
  method.name = std::move(name);
  method.predictions = match(truth, predictions);
  return method;
}

MethodRun run_methods(Annotations& truth, std::vector<Method>& methods, const PictureReader& read,
                      const MethodRunOptions& options) {
  ThreadPool pool(options.threads);
  std::vector<BoxDetector> detectors;
  for (int i = 0; options.make_detector && i < pool.threads(); ++i)
    detectors.push_back(options.make_detector());
  const std::function<double()> clock = options.clock ? options.clock : wall_clock;
  std::vector<std::filesystem::path> files;
  for (const Annotation& face : truth.faces) files.push_back(truth.path(face));

  MethodRun run;
  PictureWork work;
  work.progress = options.progress;
  if (!detectors.empty())
    work.in_parallel = [&](std::size_t i, image::ByteView picture, int worker) {
      Annotation& face = truth.faces[i];
      std::vector<Box> boxes = detectors[std::size_t(worker)](picture);
      std::erase_if(boxes, [&](const Box& box) { return !holds(box, face.points); });
      give_box(face, boxes);
    };
  work.in_order = [&](std::size_t i, image::ByteView picture) {
    Annotation& face = truth.faces[i];
    if (!picture.empty() && !face.box && options.model) {
      const Shape points = select(face.points, truth.ids, ids_of(*options.model));
      try {
        face.box = perturbed_box(points, options.model->mean, options.convention, options.seed, i);
      } catch (const Error& error) {
        throw Error(formatted("{}: {}", face.where.empty() ? face.file : face.where, error.what()));
      }
      ++run.from_truth;
    }
    for (Method& method : methods)
      if (method.find) find_points(method, face, i, picture, clock);
  };
  run.unreadable = read_pictures(files, read, pool, work);
  std::erase_if(run.unreadable, [](const std::string& failure) { return failure.empty(); });
  return run;
}

}  // namespace sdm::face
