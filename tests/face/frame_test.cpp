#include "sdm/face/frame.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sdm/face/mean_shape.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

const Frame kTurned{30 * std::cos(0.4F), 30 * std::sin(0.4F), 50, 70};

TEST(AFrame, IsFoundFromTheShapeItMade) {
  Shape pixels = drawn_mean();
  kTurned.to_image(drawn_mean(), pixels);
  const Frame found = fit_frame(drawn_mean(), pixels);
  EXPECT_NEAR(found.a, kTurned.a, 1e-3);
  EXPECT_NEAR(found.b, kTurned.b, 1e-3);
  EXPECT_NEAR(found.x, kTurned.x, 1e-3);
  EXPECT_NEAR(found.y, kTurned.y, 1e-3);
  EXPECT_NEAR(found.scale(), 30, 1e-3);
}

TEST(AFrame, IsFoundWithoutTheMissingPoints) {
  Shape pixels = drawn_mean();
  kTurned.to_image(drawn_mean(), pixels);
  pixels(0, 2) = std::numeric_limits<float>::quiet_NaN();
  pixels.col(5).setConstant(std::numeric_limits<float>::quiet_NaN());
  EXPECT_NEAR(fit_frame(drawn_mean(), pixels).b, kTurned.b, 1e-3);
}

TEST(AFrame, LeadsThereAndBack) {
  Shape pixels = drawn_mean(), back = drawn_mean();
  kTurned.to_image(drawn_mean(), pixels);
  kTurned.to_face(pixels, back);
  EXPECT_LT((back - drawn_mean()).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(AFrame, OfASinglePlaceHasNoSize) {
  const Shape nowhere = Shape::Zero(2, 9);
  EXPECT_EQ(fit_frame(drawn_mean(), nowhere).scale(), 0);
}

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
    Frame{size * std::cos(angle), size * std::sin(angle), 9, 7}.to_image(drawn_mean(), pixels);
    shapes.push_back(pixels);
  }
  Shape expected = drawn_mean();
  expected.colwise() -= 0.5F * (expected.rowwise().minCoeff() + expected.rowwise().maxCoeff());
  EXPECT_LT((mean_shape(shapes, drawn_mirror(), {0, 3}) - expected).cwiseAbs().maxCoeff(), 1e-4);
}

TEST(TheMeanShape, HasHalfADiagonalAsItsUnitWhereNoPointsAreNamed) {
  const auto shapes = truths(drawn_faces(20, 1));
  const Shape mean = mean_shape(shapes, {}, {-1, -1});
  EXPECT_NEAR((mean.rowwise().maxCoeff() - mean.rowwise().minCoeff()).norm(), 2, 1e-4);
}

TEST(AMissingPoint, IsPutWhereTheMeanHasIt) {
  Shape pixels = drawn_mean();
  kTurned.to_image(drawn_mean(), pixels);
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

TEST(ABoxConvention, LeadsFromBoxesToFramesAndBack) {
  const BoxConvention convention{"drawn", 0.5F, 0.02F, -0.1F};
  const Box box{10, 20, 60, 60}, back = convention.box(convention.frame(box));
  EXPECT_NEAR(back.x, box.x, 1e-4);
  EXPECT_NEAR(back.y, box.y, 1e-4);
  EXPECT_NEAR(back.width, box.width, 1e-4);
}

}  // namespace
}  // namespace sdm::face
