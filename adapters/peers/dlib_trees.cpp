#include "adapters/peers/dlib_trees.h"

#include <fmt/format.h>

#include "sdm/base/error.h"

#ifdef SDM_HAVE_DLIB
#include <dlib/image_processing.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sdm/face/data/markup.h"
#endif

namespace sdm::peers {

std::string TreeOptions::text() const {
  return fmt::format("{} cascades of {} trees, depth {}, nu {:g}, oversampling {}, padding {:g}",
                     cascades, trees, depth, nu, oversampling, padding);
}

#ifdef SDM_HAVE_DLIB

namespace {

using DlibPicture = dlib::array2d<unsigned char>;

DlibPicture dlib_picture(image::ByteView grey, bool mirror = false) {
  DlibPicture picture(grey.height, grey.width);
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x) picture[y][x] = grey(mirror ? grey.width - 1 - x : x, y);
  return picture;
}

const face::Box& first_box(const face::TrainingFace& face) {
  if (face.boxes.empty() || !(face.boxes.front().width > 0))
    throw Error("dlib's trees start from a box, and a face has none");
  return face.boxes.front();
}

dlib::rectangle dlib_box(const face::Box& box) {
  const long x = std::lround(box.x), y = std::lround(box.y);
  return {x, y, x + std::lround(box.width) - 1, y + std::lround(box.height) - 1};
}

dlib::full_object_detection dlib_object(const face::Shape& points, const face::Box& box) {
  std::vector<dlib::point> parts;
  for (const auto& p : points.colwise())
    parts.push_back(p.hasNaN() ? dlib::OBJECT_PART_NOT_PRESENT
                               : dlib::point(std::lround(p.x()), std::lround(p.y())));
  return {dlib_box(box), parts};
}

}  // namespace

bool have_dlib_trees() { return true; }

TreeAnswers dlib_trees(const std::vector<face::TrainingFace>& faces,
                       const std::vector<face::TrainingFace>& test, const TreeOptions& options,
                       const std::vector<int>& mirror) {
  dlib::array<DlibPicture> pictures;
  std::vector<std::vector<dlib::full_object_detection>> objects;
  for (const face::TrainingFace& face : faces) {
    const face::Box& box = first_box(face);
    pictures.push_back(dlib_picture(face.picture));
    objects.push_back({dlib_object(face.truth, box)});
    if (mirror.empty()) continue;
    const int width = face.picture.width();
    pictures.push_back(dlib_picture(face.picture, true));
    objects.push_back(
        {dlib_object(face::mirrored(face.truth, mirror, width),
                     {float(width) - box.x - box.width, box.y, box.width, box.height})});
  }
  dlib::shape_predictor_trainer trainer;
  trainer.set_cascade_depth(static_cast<unsigned long>(options.cascades));
  trainer.set_num_trees_per_cascade_level(static_cast<unsigned long>(options.trees));
  trainer.set_tree_depth(static_cast<unsigned long>(options.depth));
  trainer.set_nu(options.nu);
  trainer.set_oversampling_amount(static_cast<unsigned long>(options.oversampling));
  trainer.set_feature_pool_region_padding(options.padding);
  trainer.set_num_threads(static_cast<unsigned long>(options.threads));
  TreeAnswers answers;
  const auto start = std::chrono::steady_clock::now();
  const dlib::shape_predictor predictor = trainer.train(pictures, objects);
  answers.train_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const face::TrainingFace& face : test) {
    const auto found = predictor(dlib_picture(face.picture), dlib_box(first_box(face)));
    face::Shape points(2, static_cast<Index>(found.num_parts()));
    for (unsigned long i = 0; i < found.num_parts(); ++i)
      points.col(static_cast<Index>(i)) << float(found.part(i).x()), float(found.part(i).y());
    answers.points.push_back(points);
  }
  return answers;
}

#else

bool have_dlib_trees() { return false; }

TreeAnswers dlib_trees(const std::vector<face::TrainingFace>&,
                       const std::vector<face::TrainingFace>&, const TreeOptions&,
                       const std::vector<int>&) {
  throw Error("dlib's trees need dlib, and this program was built without it");
}

#endif

}  // namespace sdm::peers
