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

void tell_one_group(const face::Annotations& annotations) {
  tell("sdm: all pictures are in one group, '{}': it is ignored\n",
       annotations.faces.front().group);
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
  tell_one_group(set.annotations);
  for (face::TrainingFace& face : set.faces) face.group = -1;
}

// Of several ranks: numbers of the groups across all of them, for every face, and then this rank's
// part of the faces.
std::vector<Index> take_part(face::Annotations& annotations, const World& world) {
  std::map<std::string, Index> first;
  std::vector<Index> groups;
  for (const face::Annotation& face : annotations.faces) {
    const auto number = static_cast<Index>(groups.size());
    groups.push_back(face.group.empty() ? number
                                        : first.try_emplace(face.group, number).first->second);
  }
  if (groups.size() > 1 && groups.back() == 0 && first.size() == 1 &&
      std::count(groups.begin(), groups.end(), Index(0)) == static_cast<Index>(groups.size())) {
    if (world.is_root()) tell_one_group(annotations);
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<Index>(i);
  }
  const auto [begin, end] = world.part(groups.size());
  const auto own = [begin = static_cast<std::ptrdiff_t>(begin),
                    end = static_cast<std::ptrdiff_t>(end)](auto& all) {
    all.erase(all.begin() + end, all.end());
    all.erase(all.begin(), all.begin() + begin);
  };
  own(groups);
  own(annotations.faces);
  return groups;
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
  const bool tells = options.world == nullptr || options.world->is_root();
  if (tells)
    for (const std::string& skipped : annotations.skipped) tell("skipped: {}\n", skipped);
  std::erase_if(annotations.faces, [&](const face::Annotation& face) {
    const std::string why = too_sparse(face.points);
    if (why.empty()) return false;
    const std::string told =
        fmt::format("{}: {}", face.where.empty() ? face.file : face.where, why);
    if (!options.skip_bad) throw Error(told);
    if (tells) tell("skipped: {}\n", told);
    return true;
  });
  std::stable_sort(annotations.faces.begin(), annotations.faces.end(), comes_before);
  return annotations;
}

face::Annotations faces_to_draw(Index count) {
  face::Annotations annotations;
  for (int id = 0; id < 68; ++id) annotations.ids.push_back(id);
  annotations.faces.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < annotations.faces.size(); ++i) {
    annotations.faces[i].file = fmt::format("rendered face {}", i);
    annotations.faces[i].points = face::Shape::Zero(2, 68);
    annotations.faces[i].box = face::Box{};
  }
  return annotations;
}

namespace {

// Faces with these numbers, and their groups where there are several ranks.
TrainingSet draw_part(face::Annotations annotations, std::uint64_t first,
                      const std::vector<Index>& groups, const RenderingArguments& rendering,
                      const TrainingSetOptions& options) {
  ThreadPool pool(options.threads);
  const render::FaceRenderer renderer = make_renderer(rendering, pool);
  TrainingSet set;
  set.annotations = std::move(annotations);
  set.faces.resize(set.annotations.faces.size());
  set.pixel_sizes.assign(set.faces.size(), 1);
  const auto count = static_cast<Index>(set.faces.size());
  Progress progress("rendering");
  constexpr Index kAtOnce = 64;
  for (Index from = 0; from < count; from += kAtOnce) {
    progress.update(static_cast<double>(from) / static_cast<double>(count));
    pool.run(std::min(kAtOnce, count - from), [&](Index i, int thread) {
      const auto number = static_cast<std::size_t>(from + i);
      const render::RenderedFace drawn = renderer.draw(first + number);
      face::Annotation& annotation = set.annotations.faces[number];
      annotation.points = drawn.points;
      annotation.box =
          face::Box{drawn.box_corner.x(), drawn.box_corner.y(), drawn.box_size, drawn.box_size};
      std::vector<face::Box> boxes{*annotation.box};
      if (options.finder)
        boxes.insert(boxes.begin(), options.finder->find(drawn.picture, drawn.points, thread));
      face::TrainingFace& face = set.faces[number];
      face = face::trim(drawn.picture, drawn.points, std::move(boxes), options.recipe);
      face.hidden.resize(drawn.visible.size());
      for (std::size_t k = 0; k < drawn.visible.size(); ++k) face.hidden[k] = !drawn.visible[k];
      if (!groups.empty()) face.group = groups[number];
    });
  }
  return set;
}

// Of one rank: its groups, where there are several.
TrainingSet read_part(face::Annotations annotations, std::vector<Index> groups,
                      const std::string& title, const TrainingSetOptions& options) {
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
      if (!groups.empty()) set.faces.back().group = groups[i];
      set.annotations.faces.push_back(std::move(annotations.faces[i]));
      continue;
    }
    if (!options.skip_bad) throw Error(failures[i]);
    tell("skipped: {}\n", failures[i]);
  }
  if (groups.empty()) number_groups(set);
  return set;
}

}  // namespace

TrainingSet draw_training_set(face::Annotations annotations, std::uint64_t first,
                              const RenderingArguments& rendering,
                              const TrainingSetOptions& options) {
  if (options.world == nullptr || options.world->size() == 1)
    return draw_part(std::move(annotations), first, {}, rendering, options);
  TrainingSet set;
  first += options.world->part(annotations.faces.size()).first;
  const std::vector<Index> groups = take_part(annotations, *options.world);
  options.world->together(
      [&] { set = draw_part(std::move(annotations), first, groups, rendering, options); });
  return set;
}

TrainingSet read_training_set(face::Annotations annotations, const std::string& title,
                              const TrainingSetOptions& options) {
  TrainingSet set;
  std::vector<Index> groups;
  const bool several = options.world != nullptr && options.world->size() > 1;
  if (several) groups = take_part(annotations, *options.world);
  const auto read = [&] { set = read_part(std::move(annotations), groups, title, options); };
  several ? options.world->together(read) : read();
  if (options.finder) {
    const auto all = [&](double value) { return several ? options.world->sum(value) : value; };
    const double found = all(static_cast<double>(std::count_if(
        set.faces.begin(), set.faces.end(),
        [](const face::TrainingFace& face) { return face.boxes.front().width > 0; })));
    const double faces = all(static_cast<double>(set.faces.size()));
    say("the detector finds {} of {}\n", found, faces);
    const auto require_half = [&] {
      if (found < 2 || 2 * found < faces)
        throw Error(
            fmt::format("{}: the detector finds {} of {}, expected at least half: is it one of "
                        "these objects?",
                        title, found, faces));
    };
    several ? options.world->together(require_half) : require_half();
  }
  return set;
}

}  // namespace sdm::app
