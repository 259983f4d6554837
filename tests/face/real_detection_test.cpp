// Whole photographs: what the shipped detector finds in them, and what it takes for a face.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <iostream>

#include "sdm/face/data/annotations.h"
#include "sdm/face/data/boxes.h"
#include "sdm/face/detector.h"
#include "sdm/face/tracker.h"
#include "sdm/image/resample.h"
#include "sdm/opencv/image.h"

namespace sdm::face {
namespace {

namespace fs = std::filesystem;

const fs::path kPhotographs = fs::path(SDM_SHARED_DATA) / "photos";
const fs::path kShippedFiles = SDM_MODELS;

#define NEEDS_PHOTOGRAPHS()                                \
  if (!fs::exists(kPhotographs)) {                         \
    std::cout << "skipped: needs ../shared/data/photos\n"; \
    GTEST_SKIP() << "needs ../shared/data/photos";         \
  }

struct Finding {
  DetectorModel detector = DetectorModel::load(kShippedFiles / "face-detector.sdm");
  Model fast = Model::load(kShippedFiles / "face68-fast.sdm"),
        accurate = Model::load(kShippedFiles / "face68.sdm");
};

const Finding& shipped() {
  static const Finding models;
  return models;
}

TEST(TheShippedDetector, IsSmall) {
  EXPECT_LE(fs::file_size(kShippedFiles / "face-detector.sdm"), 300'000U);
}

// Every fourth photograph: 55 of them. The issue asks for 99.5 % and 0.02 false faces a photograph
// of all 218, which `sdm reproduce detection` measures.
TEST(TheShippedDetector, FindsTheLabelledFacesOfPhotographsAndHardlyAnythingElse) {
  NEEDS_PHOTOGRAPHS();
  const Annotations truth = read_csv(kPhotographs / "dev_landmarks.csv");
  const Boxes boxes = read_boxes(kPhotographs / "dev_faces.csv");
  Detector detector(shipped().detector, shipped().fast);
  Aligner aligner(shipped().accurate);
  int photographs = 0, fitted = 0, false_faces = 0;
  for (std::size_t i = 0; i < truth.faces.size(); i += 4) {
    const Annotation& face = truth.faces[i];
    const auto grey = opencv::read_grey(truth.path(face));
    const double eyes = static_cast<double>((face.points.col(36) - face.points.col(45)).norm());
    bool is_fitted = false;
    for (const DetectedFace& one : detector.detect(grey)) {
      const Shape& points = aligner.align_from(grey, one.place).points;
      is_fitted = is_fitted || mean_distance(points, face.points) < 0.08 * eyes;
      const Eigen::AlignedBox2f here = bounds(one.points);
      bool overlaps = false;
      for (const Box& box : boxes.at(face.file))
        overlaps =
            overlaps || here.intersects({Eigen::Vector2f(box.x, box.y),
                                         Eigen::Vector2f(box.x + box.width, box.y + box.height)});
      false_faces += !overlaps;
    }
    fitted += is_fitted;
    ++photographs;
  }
  EXPECT_GE(fitted, photographs - 1);
  EXPECT_LE(false_faces, 2);
}

// Every eighth photograph, shrunk until its labelled face is about 24 px wide, searched as it is by
// default: pictures this small are searched for small faces.
TEST(TheShippedDetector, FindsFacesOf24Pixels) {
  NEEDS_PHOTOGRAPHS();
  const Annotations truth = read_csv(kPhotographs / "dev_landmarks.csv");
  Detector detector(shipped().detector, shipped().fast);
  Aligner aligner(shipped().accurate);
  int photographs = 0, fitted = 0;
  for (std::size_t i = 0; i < truth.faces.size(); i += 8) {
    const Annotation& face = truth.faces[i];
    const auto grey = opencv::read_grey(truth.path(face));
    const float width = bounds(face.points).sizes().x();
    const int factor = static_cast<int>(std::lround(width / 24));
    if (factor < 2) continue;
    image::Image<std::uint8_t> small(grey.width() / factor, grey.height() / factor);
    image::shrink(grey, factor, small);
    const Shape points =
        ((face.points.array() + 0.5F) / static_cast<float>(factor) - 0.5F).matrix();
    const double eyes = static_cast<double>((points.col(36) - points.col(45)).norm());
    bool is_fitted = false;
    for (const DetectedFace& one : detector.detect(small))
      is_fitted = is_fitted ||
                  mean_distance(aligner.align_from(small, one.place).points, points) < 0.1 * eyes;
    fitted += is_fitted;
    ++photographs;
  }
  EXPECT_GE(photographs, 20);
  EXPECT_GE(fitted, photographs * 85 / 100);
}

TEST(TheShippedDetector, IsIndifferentToLightAndContrast) {
  NEEDS_PHOTOGRAPHS();
  const Annotations truth = read_csv(kPhotographs / "dev_landmarks.csv");
  Detector detector(shipped().detector, shipped().fast);
  int found = 0;
  for (std::size_t i = 0; i < 100; i += 10) {
    auto grey = opencv::read_grey(truth.path(truth.faces[i]));
    for (int y = 0; y < grey.height(); ++y)
      for (int x = 0; x < grey.width(); ++x)
        grey(x, y) = static_cast<std::uint8_t>(20 + grey(x, y) * 4 / 10);
    const Similarity place = fit_similarity(shipped().fast.mean, truth.faces[i].points);
    for (const DetectedFace& one : detector.detect(grey)) found += same_face(one.place, place);
  }
  EXPECT_GE(found, 9);
}

}  // namespace
}  // namespace sdm::face
