#include <gtest/gtest.h>

#include "sdm/face/aligner.h"
#include "tests/allocation_count.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

TEST(AnAligner, AllocatesNothing) {
  const auto faces = drawn_faces(30, 1);
  const Model model = train(faces, {}, drawn_options()).model;
  Aligner aligner(model);
  aligner.align(faces[0].picture, faces[0].boxes[0]);
  const int before = allocations;
  for (const TrainingFace& face : faces) aligner.align(face.picture, face.boxes[0]);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace sdm::face
