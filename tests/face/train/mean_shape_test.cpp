#include "sdm/face/train/mean_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sdm/base/error.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<Shape> truths(const std::vector<TrainingFace>& faces) {
  std::vector<Shape> shapes;
  for (const TrainingFace& face : faces) shapes.push_back(face.truth);
  return shapes;
}

TEST(TheMeanShape, IsSymmetricCentredAndOfUnitSize) {
  const auto shapes = truths(drawn_faces(60, 1));
  const Shape mean = mean_shape(shapes, drawn_mirror(), {0, 3});
  EXPECT_NEAR((mean.col(0) - mean.col(3)).norm(), 1, 1e-5);
  EXPECT_NEAR(mean.row(1).minCoeff() + mean.row(1).maxCoeff(), 0, 1e-5);
  for (Index p = 0; p < 9; ++p) {
    const auto q = drawn_mirror()[static_cast<std::size_t>(p)];
    EXPECT_NEAR(mean(0, p), -mean(0, q), 1e-5);
    EXPECT_NEAR(mean(1, p), mean(1, q), 1e-5);
  }
}

TEST(TheMeanShape, IsTheOneAllShapesWereMadeFrom) {
  std::vector<Shape> shapes;
  for (int i = 0; i < 5; ++i) {
    Shape pixels = drawn_mean();
    const float angle = 0.2F * static_cast<float>(i - 2), size = 20 + 5 * static_cast<float>(i);
    Similarity{size * std::cos(angle), size * std::sin(angle), 9, 7}.to_image(drawn_mean(), pixels);
    shapes.push_back(pixels);
  }
  Shape expected = drawn_mean();
  expected.colwise() -= 0.5F * (expected.rowwise().minCoeff() + expected.rowwise().maxCoeff());
  EXPECT_LT((mean_shape(shapes, drawn_mirror(), {0, 3}) - expected).cwiseAbs().maxCoeff(), 1e-4);
}

// Leaves lie on the table as they fell: which one was written down first must not matter.
TEST(TheMeanShape, IsTurnedAsTheShapesAreOnAverageWhicheverIsFirst) {
  std::vector<Shape> shapes;
  for (int i = 0; i < 41; ++i) {
    Shape pixels = drawn_mean();
    const float angle = 0.3F + 0.04F * static_cast<float>(i - 20);
    Similarity{30 * std::cos(angle), 30 * std::sin(angle), 9, 7}.to_image(drawn_mean(), pixels);
    shapes.push_back(pixels);
  }
  const Shape mean = mean_shape(shapes, {}, {0, 3});
  const Similarity turned = fit_similarity(drawn_mean(), mean);
  EXPECT_NEAR(std::atan2(turned.b, turned.a), 0.3F, 1e-4);
  for (const std::size_t first : {7UL, 20UL, 40UL}) {
    std::vector<Shape> shuffled = shapes;
    std::swap(shuffled.front(), shuffled[first]);
    std::reverse(shuffled.begin() + 1, shuffled.end());
    EXPECT_LT((mean_shape(shuffled, {}, {0, 3}) - mean).cwiseAbs().maxCoeff(), 1e-4) << first;
  }
}

TEST(TheMeanShape, HasHalfADiagonalAsItsUnitWhereNoPointsAreNamed) {
  const auto shapes = truths(drawn_faces(20, 1));
  const Shape mean = mean_shape(shapes, {}, {-1, -1});
  EXPECT_NEAR((mean.rowwise().maxCoeff() - mean.rowwise().minCoeff()).norm(), 2, 1e-4);
}

TEST(TheMeanShape, NeedsAMirrorWhosePairsNameEachOther) {
  const auto shapes = truths(drawn_faces(3, 1));
  const auto fails = [&](std::size_t point, int partner, const char* why) {
    std::vector<int> mirror = drawn_mirror();
    mirror[point] = partner;
    EXPECT_THAT([&] { mean_shape(shapes, mirror, {0, 3}); }, ThrowsMessage<Error>(HasSubstr(why)));
  };
  fails(4, 100000000, "point 4 becomes 100000000, expected each pair of 0 to 8 to name each other");
  fails(4, 9, "point 4 becomes 9");
  fails(0, -1, "point 0 becomes -1");
  fails(0, 2, "point 0 becomes 2");
  EXPECT_THAT(
      [&] {
        mean_shape(shapes, {1, 0}, {0, 3});
      },
      ThrowsMessage<Error>(HasSubstr("the mirror has 2 points, expected 9")));
}

TEST(TheMeanShape, NeedsUnitPointsThatItHas) {
  const auto shapes = truths(drawn_faces(3, 1));
  for (const UnitPoints& unit : std::vector<UnitPoints>{{3, -1}, {-1, 3}, {0, 9}, {-2, -2}})
    EXPECT_THAT([&] { mean_shape(shapes, {}, unit); },
                ThrowsMessage<Error>(HasSubstr("expected two of 0 to 8, or -1 and -1")));
}

TEST(AMissingPoint, IsPutWhereTheMeanHasIt) {
  Shape pixels = drawn_mean();
  Similarity{27, 12, 50, 70}.to_image(drawn_mean(), pixels);
  Shape holed = pixels;
  holed.col(4).setConstant(std::numeric_limits<float>::quiet_NaN());
  EXPECT_LT((complete(holed, drawn_mean()) - pixels).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(ABoxConvention, IsMeasuredAsTheBoxesWereDrawn) {
  const auto faces = drawn_faces(400, 2);
  std::vector<Box> boxes;
  for (const TrainingFace& face : faces) boxes.push_back(face.boxes.front());
  const BoxConvention found = measure_convention("drawn", truths(faces), boxes, drawn_mean());
  EXPECT_NEAR(found.scale, 1 / 1.9, 0.01);
  EXPECT_NEAR(found.dx, -0.04 / 1.9, 0.01);
  EXPECT_NEAR(found.dy, 0.1 / 1.9, 0.02);
  EXPECT_NEAR(found.sigma_x, 0.16 / std::sqrt(12.0), 0.01);
  EXPECT_NEAR(found.sigma_log_scale, 0.2 / std::sqrt(12.0), 0.01);
}

TEST(ABoxConvention, IsNotMovedByAFalseDetectionFarAway) {
  const auto faces = drawn_faces(40, 2);
  std::vector<Box> boxes;
  for (const TrainingFace& face : faces) boxes.push_back(face.boxes.front());
  const auto shapes = truths(faces);
  const std::span<const Box> good(boxes.data() + 1, boxes.size() - 1);
  const std::span<const Shape> their(shapes.data() + 1, shapes.size() - 1);
  const BoxConvention expected = measure_convention("drawn", their, good, drawn_mean());
  boxes[0] = {100000, 100000, 60, 60};
  const BoxConvention found = measure_convention("drawn", shapes, boxes, drawn_mean());
  // The medians differ a little, and what is measured by them.
  EXPECT_NEAR(found.scale, expected.scale, 1e-3);
  EXPECT_NEAR(found.dx, expected.dx, 1e-3);
  EXPECT_NEAR(found.dy, expected.dy, 1e-3);
  EXPECT_NEAR(found.sigma_x, expected.sigma_x, 1e-3);
}

TEST(ABoxConvention, NeedsTwoBoxesOnTheirFaces) {
  const auto shapes = truths(drawn_faces(3, 2));
  const std::vector<Box> boxes = {{0, 0, 60, 60}, {9000, 0, 60, 60}, {0, 0, 0, 0}};
  EXPECT_THAT([&] { measure_convention("box", shapes, boxes, drawn_mean()); },
              ThrowsMessage<Error>(HasSubstr(" of 2 boxes of 'box' lie on their face")));
}

}  // namespace
}  // namespace sdm::face
