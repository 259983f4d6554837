#include "sdm/face/train/cross_validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sdm/base/error.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(CrossValidationParts, AreOfOneSizeAndKeepGroupsTogether) {
  auto faces = drawn_faces(20, 21);
  const std::vector<int> alone = cross_validation_parts(faces, 5, 1);
  for (int part = 0; part < 5; ++part) EXPECT_EQ(std::count(alone.begin(), alone.end(), part), 4);
  EXPECT_NE(alone, cross_validation_parts(faces, 5, 2));

  for (std::size_t i = 0; i < faces.size(); ++i) faces[i].group = static_cast<Index>(i / 4 * 4);
  const std::vector<int> parts = cross_validation_parts(faces, 5, 1);
  for (std::size_t i = 0; i < faces.size(); ++i) EXPECT_EQ(parts[i], parts[i / 4 * 4]);
  EXPECT_THAT([&] { cross_validation_parts(faces, 6, 1); },
              ThrowsMessage<Error>(HasSubstr("expected 2 to 5")));
  EXPECT_THROW(cross_validation_parts(faces, 1, 1), Error);
}

TEST(CrossValidation, AsksModelsThatHaveNotSeenTheFace) {
  auto faces = drawn_faces(30, 22);
  faces[3].boxes.clear();
  const std::vector<int> parts = cross_validation_parts(faces, 3, 1);
  int learned = 0;
  const std::vector<Shape> found =
      cross_validate(faces, parts, 1, [&](const std::vector<TrainingFace>& others, int part) {
        EXPECT_EQ(part, learned++);
        EXPECT_EQ(others.size(), 20U);
        for (const TrainingFace& other : others)
          for (std::size_t i = 0; i < faces.size(); ++i)
            EXPECT_FALSE(parts[i] == part && other.truth == faces[i].truth);
        return train(others, {}, drawn_options()).model;
      });
  EXPECT_EQ(learned, 3);
  double sum = 0;
  for (std::size_t i = 0; i < faces.size(); ++i) sum += drawn_error(found[i], faces[i].truth);
  EXPECT_LT(sum / 30, 0.06);
}

}  // namespace
}  // namespace sdm::face
