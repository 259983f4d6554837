#include "sdm/face/similarity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

const Similarity kTurned{30 * std::cos(0.4F), 30 * std::sin(0.4F), 50, 70};

TEST(AFrame, IsFoundFromTheShapeItMade) {
  Shape pixels = drawn_mean();
  kTurned.to_image(drawn_mean(), pixels);
  const Similarity found = fit_similarity(drawn_mean(), pixels);
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
  EXPECT_NEAR(fit_similarity(drawn_mean(), pixels).b, kTurned.b, 1e-3);
}

TEST(AFrame, LeadsThereAndBack) {
  Shape pixels = drawn_mean(), back = drawn_mean();
  kTurned.to_image(drawn_mean(), pixels);
  kTurned.to_face(pixels, back);
  EXPECT_LT((back - drawn_mean()).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(AFrame, OfASinglePlaceHasNoSize) {
  const Shape nowhere = Shape::Zero(2, 9);
  EXPECT_EQ(fit_similarity(drawn_mean(), nowhere).scale(), 0);
}

}  // namespace
}  // namespace sdm::face
