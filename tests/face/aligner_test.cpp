#include "sdm/face/aligner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "face/shape_descent.h"
#include "sdm/base/error.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(AnAligner, TakesFacesThatTheBorderCuts) {
  Aligner aligner(drawn_training().model);
  const TrainingFace face = drawn_faces(1, 7).front();
  const image::ByteView half = image::ByteView(face.picture).crop(80, 0, 80, 160);
  Box box = face.boxes.front();
  box.x -= 80;
  EXPECT_TRUE(aligner.align(half, box).points.allFinite());
  EXPECT_TRUE(aligner.align(half, Box{-1000, -1000, 50, 50}).points.allFinite());
  EXPECT_TRUE(aligner.align(half.crop(0, 0, 1, 1), box).points.allFinite());
}

TEST(AnAligner, FindsTheFaceThoughItsBoxLiesBadly) {
  const Model& model = drawn_training().model;
  ASSERT_TRUE(model.confidence.known());
  Aligner aligner(model);
  int once = 0, searched = 0, boxes = 0;
  for (const TrainingFace& face : drawn_faces(30, 12)) {
    const Box good = face.boxes.front();
    for (const float size : {0.7F, 1.4F})
      for (const float shift : {-0.2F, 0.2F}) {
        const float width = size * good.width;
        const Box box{good.x + 0.5F * (good.width - width) + shift * good.width,
                      good.y + 0.5F * (good.height - width), width, width};
        const auto right = [&](const Alignment& fit) {
          return drawn_error(fit.points, face.truth) < 0.06;
        };
        once += right(aligner.align_from(face.picture, model.boxes.front().similarity(box)));
        searched += right(aligner.align(face.picture, box));
        ++boxes;
      }
  }
  EXPECT_LT(once, 0.8 * boxes);
  EXPECT_GT(searched, once + 0.3 * (boxes - once));
}

TEST(ADescent, RunsAgainOnItsPictureUntilItIsTold) {
  const Model& model = drawn_training().model;
  const TrainingFace face = drawn_faces(1, 7).front();
  const Similarity start = model.boxes.front().similarity(face.boxes.front());
  ShapeDescent descent(model);
  std::vector<Shape> before;
  const float whole = descent.run(face.picture, start, 0, [&](int, const auto& state, auto&&) {
    before.push_back(similarity_of(state).scale() * shape_of(state));
  });
  ASSERT_TRUE(std::isfinite(whole));
  ASSERT_GE(before.size(), 3U);
  const Shape last = descent.shape();
  EXPECT_EQ(descent.run_again(start, [](int) { return true; }), whole);
  EXPECT_EQ(descent.shape(), last);
  int asked = 0;
  const float step = descent.run_again(start, [&](int stage) {
    EXPECT_EQ(stage, asked++);
    return stage < 2;
  });
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(step, std::numeric_limits<float>::infinity());
  EXPECT_EQ(descent.similarity().scale() * descent.shape(), before[2]);
}

TEST(AnAligner, SaysWhatIsWrongWithItsInput) {
  Aligner aligner(drawn_training().model);
  const image::Image<std::uint8_t> picture(10, 10);
  EXPECT_THAT(
      [&] {
        aligner.align(image::ByteView(), Box{1, 1, 5, 5});
      },
      ThrowsMessage<Error>(HasSubstr("0 x 0")));
  EXPECT_THAT(
      [&] {
        aligner.align(picture, Box{1, 1, 0, 5});
      },
      ThrowsMessage<Error>(HasSubstr("0 x 5 px")));
  EXPECT_THROW(aligner.align(picture, Box{1, 1, std::numeric_limits<float>::quiet_NaN(), 5}),
               Error);
}

// Maps that are finite and still throw every point out of what a float holds.
TEST(AnAligner, GivesNoScoreToPointsThatAreNotFinite) {
  const TrainingFace face = drawn_faces(1, 7).front();
  for (const float huge : {1e6F, 1e30F, 3e38F}) {
    Model model = drawn_training().model;
    for (CompactMap& map : model.maps) map.bias.setConstant(huge);
    Aligner aligner(model);
    const Alignment& fit = aligner.align(face.picture, face.boxes.front());
    EXPECT_TRUE(fit.points.allFinite() || fit.score == 0) << huge << ": " << fit.score;
    EXPECT_TRUE(fit.score >= 0 && fit.score <= 1) << huge << ": " << fit.score;
  }
}

}  // namespace
}  // namespace sdm::face
