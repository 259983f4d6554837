#include "apps/sdm/training_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "apps/sdm/annotations.h"
#include "apps/sdm/faces.h"
#include "apps/sdm/progress.h"
#include "apps/sdm/tell.h"
#include "sdm/base/error.h"
#include "sdm/base/thread_pool.h"
#include "sdm/face/data/read_pictures.h"
#include "sdm/opencv/image.h"

namespace sdm::app {
namespace {

namespace fs = std::filesystem;

constexpr float kSmallestFound = 20;  // px

bool comes_before(const face::Annotation& a, const face::Annotation& b) {
  if (a.file != b.file) return a.file < b.file;
  const auto bytes = static_cast<std::size_t>(a.points.size()) * sizeof(float);
  return std::memcmp(a.points.data(), b.points.data(), bytes) < 0;  // any order that is always it
}

// Numbers for the names of groups: that of the first face of each.
void number_groups(TrainingSet& set) {
  std::map<std::string, Index> first;
  for (std::size_t i = 0; i < set.faces.size(); ++i)
    if (const std::string& group = set.annotations.faces[i].group; !group.empty())
      set.faces[i].group = first.try_emplace(group, static_cast<Index>(i)).first->second;
  // Else nothing could be held out.
  const auto in_one = [&](const face::TrainingFace& face) {
    return face.group >= 0 && face.group == set.faces.front().group;
  };
  if (set.faces.size() < 2 || !std::all_of(set.faces.begin(), set.faces.end(), in_one)) return;
  tell("sdm: all pictures are in one group, '{}': it is ignored\n",
       set.annotations.faces.front().group);
  for (face::TrainingFace& face : set.faces) face.group = -1;
}

// Why a face tells too little; empty: it does not.
std::string too_sparse(const face::Shape& points) {
  const Index known = (points.array().isFinite().colwise().all()).count();
  if (known >= 2 && 4 * known >= points.cols()) return {};
  return fmt::format("{} of its {} points are known, expected at least a quarter, and two", known,
                     points.cols());
}

double pixel_size(const face::Shape& original, const face::Shape& trimmed) {
  const auto size = [](const face::Shape& points) {
    return static_cast<double>(face::bounds(points).diagonal().norm());
  };
  return size(trimmed) > 0 ? size(original) / size(trimmed) : 1;
}

}  // namespace

BoxFinder::BoxFinder(const std::string& name, int threads)
    : model_(load_detector(name)), detectors_(static_cast<std::size_t>(threads)) {}

face::Box BoxFinder::find(image::ByteView grey, const face::Shape& points, int thread) {
  auto& detector = detectors_[static_cast<std::size_t>(thread)];
  if (!detector) {
    face::DetectorOptions options;
    options.min_score = 0;
    options.smallest = kSmallestFound;
    options.doubled = false;  // the boxes that the shipped models were trained from
    detector.emplace(model_, options);
  }
  std::vector<face::Box> boxes;
  for (const face::DetectedFace& found : detector->detect(grey)) boxes.push_back(found.box);
  face::Annotation face;
  face.points = points;
  face::give_box(face, boxes);
  if (!face.box ||
      !face::bounds(points).contains(Eigen::Vector2f(face.box->x + 0.5F * face.box->width,
                                                     face.box->y + 0.5F * face.box->height)))
    return {};
  return *face.box;
}

face::Annotations read_sorted(const fs::path& truth, const TrainingSetOptions& options) {
  face::Annotations annotations =
      face::read_annotations(truth, read_options(options.skip_bad, options.images));
  for (const std::string& skipped : annotations.skipped) tell("skipped: {}\n", skipped);
  std::erase_if(annotations.faces, [&](const face::Annotation& face) {
    const std::string why = too_sparse(face.points);
    if (why.empty()) return false;
    const std::string told =
        fmt::format("{}: {}", face.where.empty() ? face.file : face.where, why);
    if (!options.skip_bad) throw Error(told);
    tell("skipped: {}\n", told);
    return true;
  });
  std::stable_sort(annotations.faces.begin(), annotations.faces.end(), comes_before);
  return annotations;
}

TrainingSet read_training_set(face::Annotations annotations, const std::string& title,
                              const TrainingSetOptions& options) {
  std::vector<std::vector<face::Box>> boxes(annotations.faces.size());
  if (options.boxes) {
    const auto first = options.detectors.begin() + (options.finder ? 1 : 0);
    boxes = face::boxes_of(annotations, *options.boxes, {first, options.detectors.end()});
  } else if (!options.whole_picture) {
    for (std::size_t i = 0; i < boxes.size(); ++i)
      boxes[i] = {annotations.faces[i].box.value_or(face::Box{})};
  }
  for (std::size_t i = 0; i < boxes.size(); ++i)  // as the model will start from them
    if (!boxes[i].empty() && boxes[i][0].width > 0) annotations.faces[i].box = boxes[i][0];
  report_sense(annotations, options.strict, options.threads);

  std::vector<face::TrainingFace> faces(annotations.faces.size());
  Progress progress("reading " + title);
  std::vector<fs::path> files;
  for (const face::Annotation& one : annotations.faces) files.push_back(annotations.path(one));
  face::PictureWork work;
  work.progress = [&](double share) { progress.update(share); };
  work.in_parallel = [&](std::size_t i, image::ByteView grey, int thread) {
    const face::Shape& points = annotations.faces[i].points;
    if (options.finder)
      boxes[i].insert(boxes[i].begin(), options.finder->find(grey, points, thread));
    if (options.whole_picture)
      boxes[i] = {{0, 0, static_cast<float>(grey.width), static_cast<float>(grey.height)}};
    faces[i] = face::trim(grey, points, boxes[i], options.recipe, options.whole_picture);
  };
  ThreadPool pool(options.threads);
  const std::vector<std::string> failures =
      face::read_pictures(files, opencv::read_grey, pool, work);
  progress.clear();

  TrainingSet set;
  set.annotations = annotations;
  set.annotations.faces.clear();
  for (std::size_t i = 0; i < faces.size(); ++i) {
    if (failures[i].empty()) {
      set.pixel_sizes.push_back(pixel_size(annotations.faces[i].points, faces[i].truth));
      set.faces.push_back(std::move(faces[i]));
      set.annotations.faces.push_back(std::move(annotations.faces[i]));
      continue;
    }
    if (!options.skip_bad) throw Error(failures[i]);
    tell("skipped: {}\n", failures[i]);
  }
  number_groups(set);
  if (options.finder) {
    const auto found =
        std::count_if(set.faces.begin(), set.faces.end(),
                      [](const face::TrainingFace& face) { return face.boxes.front().width > 0; });
    say("the detector finds {} of {}\n", found, set.faces.size());
    if (found < 2 || 2 * static_cast<std::size_t>(found) < set.faces.size())
      throw Error(
          fmt::format("{}: the detector finds {} of {}, expected at least half: is it one of "
                      "these objects?",
                      title, found, set.faces.size()));
  }
  return set;
}

}  // namespace sdm::app
