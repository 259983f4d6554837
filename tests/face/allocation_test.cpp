#include <gtest/gtest.h>

#include "sdm/face/tracker.h"
#include "sdm/face/train/train_detector.h"
#include "sdm/face/train/train_on_base.h"
#include "tests/allocation_count.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

TEST(AnAligner, AllocatesNothing) {
  if (!counts_allocations) GTEST_SKIP() << "a sanitizer has a malloc of its own";
  const auto faces = drawn_faces(30, 1);
  const Model model = train(faces, {}, drawn_options()).model;
  Aligner aligner(model);
  const int before = allocations;
  for (const TrainingFace& face : faces) aligner.align(face.picture, face.boxes[0]);
  EXPECT_EQ(allocations, before);
}

TEST(AnAligner, AllocatesNothingOnABase) {
  if (!counts_allocations) GTEST_SKIP() << "a sanitizer has a malloc of its own";
  const auto faces = drawn_faces(30, 1);
  const auto base = std::make_shared<const Model>(train(faces, {}, drawn_options()).model);
  BaseTrainerOptions options;
  options.starts = 2;
  options.least_gain = 0;
  const Model model = train_on_base(faces, base, options).model;
  Aligner aligner(model);
  const int before = allocations;
  for (const TrainingFace& face : faces) aligner.align(face.picture, face.boxes[0]);
  EXPECT_EQ(allocations, before);
}

TEST(ATracker, AllocatesNothingWhileItFollows) {
  if (!counts_allocations) GTEST_SKIP() << "a sanitizer has a malloc of its own";
  const auto faces = drawn_faces(80, 1);
  Model model = train(faces, {}, drawn_options()).model;
  model.shape3d.resize(3, model.points());
  model.shape3d.topRows(2) = model.mean;
  model.shape3d.row(2) = model.mean.colwise().squaredNorm();
  model.shape3d_weights = Vector<float>::Ones(model.points());
  Tracker tracker(model, [&](image::ByteView) { return faces[0].boxes; });
  tracker.update(faces[0].picture, 0);
  tracker.update(faces[0].picture, 0.04);
  const int before = allocations;
  for (int t = 2; t < 20; ++t) {
    const TrackedFrame& seen = tracker.update(faces[0].picture, 0.04 * t);
    ASSERT_EQ(seen.faces.size(), 1U);
    ASSERT_TRUE(seen.faces[0].pose.has_value());
  }
  EXPECT_EQ(allocations, before);
}

TEST(ADetector, AllocatesNothingAfterTheFirstPictureOfASize) {
  if (!counts_allocations) GTEST_SKIP() << "a sanitizer has a malloc of its own";
  const auto faces = drawn_faces(60, 1);
  const Model model = train(faces, {}, drawn_options()).model;
  std::vector<Background> backgrounds(6);
  std::mt19937 random(3);
  for (Background& one : backgrounds) {
    one.picture = image::Image<std::uint8_t>(120, 100);
    for (int y = 0; y < 100; ++y)
      for (int x = 0; x < 120; ++x) one.picture(x, y) = static_cast<std::uint8_t>(random() % 256);
  }
  DetectorTrainerOptions training;
  training.mirror = drawn_mirror();
  training.unit = {0, 3};
  training.rounds = 1;
  const DetectorModel found = train_detector(faces, backgrounds, training).model;
  DetectorOptions options;
  options.min_score = 0;
  options.threshold = -3;  // many candidates
  Detector detector(found, model, options);
  detector.detect(faces[0].picture);
  const int before = allocations;
  for (int i = 1; i < 20; ++i) detector.detect(faces[static_cast<std::size_t>(i)].picture);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace sdm::face
