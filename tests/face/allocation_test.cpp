#include <gtest/gtest.h>

#include "sdm/face/tracker.h"
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

}  // namespace
}  // namespace sdm::face
