#include "sdm/face/confidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sdm/base/error.h"
#include "sdm/face/aligner.h"
#include "sdm/face/train/train_confidence.h"
#include "sdm/face/train/trial.h"
#include "sdm/io/bytes.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const Model& model() {
  static const Model trained = train(drawn_faces(160, 1), {}, drawn_options()).model;
  return trained;
}

TEST(AConfidence, IsTheLogisticFunctionOfAWeightedSum) {
  Confidence confidence;
  EXPECT_FALSE(confidence.known());
  confidence.weights = Vector<float>{{1, -2}};
  confidence.bias = 0.5F;
  EXPECT_NEAR(confidence.probability(Vector<float>{{0.5F, 0.5F}}), 0.5, 1e-6);
  EXPECT_NEAR(confidence.probability(Vector<float>{{2, 0.5F}}), 1 / (1 + std::exp(-1.5)), 1e-6);
}

TEST(ALearnedConfidence, TellsGoodFitsOfNewFacesFromFailedOnes) {
  ASSERT_TRUE(model().confidence.known());
  Aligner aligner(model());
  int good = 0, passed = 0, failed = 0, alarms = 0;
  for (const TrainingFace& face : drawn_faces(60, 3))
    for (const TrialKind kind : kTrialKinds) {
      const Trial trial = make_trial(kind, face.picture, face.truth, model(), 977,
                                     static_cast<std::uint64_t>(good + failed));
      const Alignment& fit =
          aligner.align_from(trial.has_face() ? face.picture : trial.faceless, trial.start);
      const double error =
          trial.has_face() ? unit_error(fit.points, face.truth, model().mean) : HUGE_VAL;
      EXPECT_TRUE(fit.score >= 0 && fit.score <= 1) << fit.score;
      const bool found = error < static_cast<double>(kGoodFit);
      ++(found ? good : failed);
      if (fit.score > 0.5F) ++(found ? passed : alarms);
    }
  EXPECT_GT(good, 100);
  EXPECT_GT(failed, 100);
  EXPECT_GT(passed, 0.97 * good);
  EXPECT_LT(alarms, 0.03 * failed);
}

TEST(ALearnedConfidence, IsTheSameInAMirror) {
  const TrainingFace face = drawn_faces(1, 5).front();
  image::Image<std::uint8_t> flipped(face.picture.width(), face.picture.height());
  for (int y = 0; y < flipped.height(); ++y)
    for (int x = 0; x < flipped.width(); ++x)
      flipped(x, y) = face.picture(flipped.width() - 1 - x, y);
  Aligner aligner(model());
  const Similarity frame = model().boxes.front().similarity(face.boxes.front());
  const float right = static_cast<float>(flipped.width() - 1);
  const float seen = aligner.align_from(face.picture, frame).score;
  EXPECT_NEAR(aligner.align_from(flipped, Similarity{frame.a, 0, right - frame.x, frame.y}).score,
              seen, 0.02);
}

TEST(ALearnedConfidence, HasTheSameBitsForAnyNumberOfThreads) {
  TrainerOptions options = drawn_options();
  options.threads = 1;
  const auto faces = drawn_faces(80, 8);
  const Model one = train(faces, {}, options).model;
  options.threads = 3;
  const Model three = train(faces, {}, options).model;
  ASSERT_TRUE(one.confidence.known());
  EXPECT_EQ(one.confidence.weights, three.confidence.weights);
  EXPECT_EQ(one.confidence.bias, three.confidence.bias);
}

TEST(ALearnedConfidence, TellsTheShareThatIsDone) {
  ThreadPool pool(1);
  std::vector<double> shares;
  learn_confidence(model(), drawn_faces(100, 8), 1, pool,
                   [&](double share) { shares.push_back(share); });
  // Eighty faces in two parts, then the twenty held out.
  EXPECT_THAT(shares, ElementsAre(0.64, 0.8, 1));
}

TEST(ALearnedConfidence, IsLeftOutWhereTooFewFacesTellIt) {
  EXPECT_FALSE(train(drawn_faces(12, 9), {}, drawn_options()).model.confidence.known());
}

TEST(AModelFile, KeepsTheConfidenceAndLoadsWithoutOne) {
  io::Model file = model().to_model();
  const Model back = Model::from_model(io::read(io::to_bytes(file)));
  EXPECT_EQ(back.confidence.weights, model().confidence.weights);
  EXPECT_EQ(back.confidence.bias, model().confidence.bias);
  file.tensors.erase("confidence");
  file.tensors.erase("confidence.bias");
  const Model old = Model::from_model(file);
  EXPECT_FALSE(old.confidence.known());
  // The size of the last step then tells faces from walls.
  Aligner aligner(old);
  const TrainingFace face = drawn_faces(1, 6).front();
  const image::Image<std::uint8_t> wall(160, 160, 128);
  const float on_face = aligner.align(face.picture, face.boxes.front()).score;
  EXPECT_GT(on_face, aligner.align(wall, face.boxes.front()).score);
}

TEST(AModelFile, WithAConfidenceOfAnotherSizeIsRefused) {
  Model wrong = model();
  wrong.confidence.weights.conservativeResize(7);
  EXPECT_THAT([&] { wrong.to_model(); }, ThrowsMessage<Error>(HasSubstr("7 weights")));
  wrong = model();
  wrong.confidence.bias = std::nanf("");
  EXPECT_THAT([&] { wrong.to_model(); }, ThrowsMessage<Error>(HasSubstr("confidence")));
}

}  // namespace
}  // namespace sdm::face
