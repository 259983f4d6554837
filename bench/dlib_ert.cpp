// dlib's regression trees trained on the same faces and the same boxes as our models: the anchor of
// the side-by-side in docs. Training takes about half an hour on two cores and is done once: a
// model file that exists is kept.
//
//   dlib_ert train TRAIN.csv TRAIN_BOXES.csv DETECTOR ert.dat
//   dlib_ert predict ert.dat TRUTH.csv BOXES.csv DETECTOR predictions.csv
//   sdm eval --truth TRUTH.csv --predictions dlib=predictions.csv
//
// Faces without a box are left out, as dlib has no start for them; to give it the perturbed boxes
// that our models start from, pass the boxes that `sdm eval --save-boxes` writes. The settings are
// dlib's usual ones for faces (Kazemi and Sullivan's): 10 cascades of 500 trees, depth 4, nu 0.1, 5
// starts for each face, and every face mirrored.
#include <dlib/image_processing.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "sdm/base/error.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/data/markup.h"
#include "sdm/opencv/image.h"

namespace {
using namespace sdm;

using Picture = dlib::array2d<unsigned char>;

Picture to_dlib(image::ByteView grey, bool mirror = false) {
  Picture picture(grey.height, grey.width);
  for (int y = 0; y < grey.height; ++y)
    for (int x = 0; x < grey.width; ++x) picture[y][x] = grey(mirror ? grey.width - 1 - x : x, y);
  return picture;
}

dlib::rectangle to_dlib(const face::Box& box) {
  const long x = std::lround(box.x), y = std::lround(box.y);
  return {x, y, x + std::lround(box.width) - 1, y + std::lround(box.height) - 1};
}

dlib::full_object_detection to_dlib(const face::Shape& points, const face::Box& box) {
  std::vector<dlib::point> parts;
  for (const auto& p : points.colwise())
    parts.push_back(p.hasNaN() ? dlib::OBJECT_PART_NOT_PRESENT
                               : dlib::point(std::lround(p.x()), std::lround(p.y())));
  return {to_dlib(box), parts};
}

face::Annotations read(const std::string& truth, const std::string& boxes,
                       const std::string& detector) {
  face::Annotations faces = face::read_annotations(truth);
  face::give_boxes(faces, face::read_boxes(boxes, detector));
  std::erase_if(faces.faces, [](const face::Annotation& face) { return !face.box; });
  std::printf("%zu faces with a box\n", faces.faces.size());
  return faces;
}

void train(const face::Annotations& faces, const std::string& model) {
  const std::vector<int> mirror = face::ibug(faces.ids).mirror;
  dlib::array<Picture> pictures;
  std::vector<std::vector<dlib::full_object_detection>> objects;
  const auto add = [&](Picture picture, const face::Shape& points, const face::Box& box) {
    pictures.push_back(std::move(picture));
    objects.push_back({to_dlib(points, box)});
  };
  for (const face::Annotation& face : faces.faces) {
    const auto grey = opencv::read_grey(faces.path(face));
    const face::Box& box = *face.box;
    add(to_dlib(grey), face.points, box);
    if (mirror.empty()) continue;
    add(to_dlib(grey, true), face::mirrored(face.points, mirror, grey.width()),
        {float(grey.width()) - box.x - box.width, box.y, box.width, box.height});
  }
  dlib::shape_predictor_trainer trainer;
  trainer.set_cascade_depth(10);
  trainer.set_num_trees_per_cascade_level(500);
  trainer.set_tree_depth(4);
  trainer.set_nu(0.1);
  trainer.set_oversampling_amount(5);
  trainer.set_num_threads(std::max(1u, std::thread::hardware_concurrency()));
  trainer.be_verbose();
  const dlib::shape_predictor predictor = trainer.train(pictures, objects);
  dlib::serialize(model) << predictor;
}

void predict(const std::string& model, face::Annotations faces, const std::string& out) {
  dlib::shape_predictor predictor;
  dlib::deserialize(model) >> predictor;
  for (face::Annotation& face : faces.faces) {
    const auto found = predictor(to_dlib(opencv::read_grey(faces.path(face))), to_dlib(*face.box));
    face.points.resize(2, long(found.num_parts()));
    for (unsigned long i = 0; i < found.num_parts(); ++i)
      face.points.col(long(i)) << float(found.part(i).x()), float(found.part(i).y());
  }
  face::write_csv(out, faces);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 5 && words[0] == "train") {
      if (std::filesystem::exists(words[4])) {
        std::printf("%s is there already and kept\n", words[4].c_str());
      } else {
        train(read(words[1], words[2], words[3]), words[4]);
      }
      return 0;
    }
    if (words.size() == 6 && words[0] == "predict") {
      predict(words[1], read(words[2], words[3], words[4]), words[5]);
      return 0;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dlib_ert: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr,
               "usage: dlib_ert train TRAIN.csv BOXES.csv DETECTOR MODEL.dat\n"
               "       dlib_ert predict MODEL.dat TRUTH.csv BOXES.csv DETECTOR OUT.csv\n");
  return 2;
}
