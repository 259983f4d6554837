#include "sdm/face/train/train_on_base.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sdm/base/error.h"
#include "sdm/base/random.h"
#include "sdm/face/aligner.h"
#include "sdm/face/tracker.h"
#include "sdm/face/train/adaptation_learner.h"
#include "sdm/face/train/train_confidence.h"
#include "sdm/io/bytes.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::shared_ptr<const Model> drawn_base() {
  static const auto base = std::make_shared<const Model>(drawn_training().model);
  return base;
}

// Other points that follow from the nine: middles of the eyes, nose, middle of the mouth, brows.
Shape others(const Shape& nine) {
  Shape points(2, 6);
  points << 0.5F * (nine.col(0) + nine.col(1)), 0.5F * (nine.col(2) + nine.col(3)), nine.col(4),
      0.5F * (nine.col(5) + nine.col(6)), nine.col(7), nine.col(8);
  return points;
}

std::vector<int> others_mirror() { return {1, 0, 2, 3, 5, 4}; }

std::vector<TrainingFace> other_faces(int count, unsigned seed) {
  std::vector<TrainingFace> faces = drawn_faces(count, seed);
  for (TrainingFace& face : faces) face.truth = others(face.truth);
  return faces;
}

// Faces with two marks on the cheeks, each wherever it likes, about which the nine points tell
// nothing; they and the nose are the points.
std::vector<TrainingFace> marked_faces(int count, unsigned seed) {
  std::vector<TrainingFace> faces = drawn_faces(count, seed);
  std::mt19937 random(seed + 100);
  const auto uniform = [&](float low, float high) {
    return low + (high - low) * static_cast<float>(random() >> 8) * 0x1p-24F;
  };
  for (TrainingFace& face : faces) {
    const Similarity place = fit_similarity(drawn_mean(), face.truth);
    Shape points(2, 3);
    points << -0.3F + uniform(-0.06F, 0.06F), 0.3F + uniform(-0.06F, 0.06F), 0,
        0.1F + uniform(-0.06F, 0.06F), 0.1F + uniform(-0.06F, 0.06F), 0;
    place.to_image(points, points);
    points.col(2) = face.truth.col(4);
    for (Index p = 0; p < 2; ++p)
      for (int y = 0; y < 160; ++y)
        for (int x = 0; x < 160; ++x) {
          const Eigen::Vector2f off(static_cast<float>(x) - points(0, p),
                                    static_cast<float>(y) - points(1, p));
          const float size = 0.03F * place.scale();
          const float dark = 100 * std::exp(-off.squaredNorm() / (2 * size * size));
          face.picture(x, y) = static_cast<std::uint8_t>(
              std::clamp(static_cast<float>(face.picture(x, y)) - dark, 0.0F, 255.0F));
        }
    face.truth = points;
  }
  return faces;
}

BaseTrainerOptions few_options() {
  BaseTrainerOptions options;
  options.starts = 3;
  options.folds = 5;
  options.unit = 40;
  return options;
}

double test_error(const Model& model, const std::vector<TrainingFace>& faces) {
  Aligner aligner(model);
  double sum = 0;
  for (const TrainingFace& face : faces)
    sum += mean_distance(aligner.align(face.picture, face.boxes.front()).points, face.truth) /
           static_cast<double>(fit_similarity(model.mean, face.truth).scale());
  return sum / static_cast<double>(faces.size());
}

const TrainedOnBase& other_training() {
  static const TrainedOnBase result = [] {
    BaseTrainerOptions options = few_options();
    options.find_mirror = true;
    return train_on_base(other_faces(30, 5), drawn_base(), options);
  }();
  return result;
}

TEST(TrainingOnABase, FindsPointsThatFollowFromTheBasesAsWellAsTheirFormula) {
  const auto nine = drawn_faces(40, 6), faces = other_faces(40, 6);
  Aligner base(*drawn_base());
  double by_formula = 0;
  for (std::size_t i = 0; i < faces.size(); ++i)
    by_formula += mean_distance(others(base.align(nine[i].picture, nine[i].boxes.front()).points),
                                faces[i].truth) /
                  static_cast<double>(fit_similarity(drawn_mean(), nine[i].truth).scale()) / 40;
  EXPECT_LT(test_error(other_training().model, faces), 1.1 * by_formula);
}

TEST(TrainingOnABase, FindsWhatTheBaseCannotTellByItsStages) {
  const auto faces = marked_faces(60, 7), fresh = marked_faces(40, 8);
  BaseTrainerOptions options = few_options();
  const TrainedOnBase whole = train_on_base(faces, drawn_base(), options);
  ASSERT_GE(whole.model.maps.size(), 1U);
  EXPECT_TRUE(whole.stages[1].kept);
  options.stages = 0;
  const TrainedOnBase map_alone = train_on_base(faces, drawn_base(), options);
  EXPECT_TRUE(map_alone.model.maps.empty());
  EXPECT_LT(test_error(whole.model, fresh), 0.7 * test_error(map_alone.model, fresh));
  // What it says of itself, which counts bad starts too, is about what new faces show.
  EXPECT_GT(whole.error(), 0.8 * test_error(whole.model, fresh));
  EXPECT_LT(whole.error(), 3 * test_error(whole.model, fresh));
}

TEST(TrainingOnABase, KeepsNoStageThatLowersNoHeldOutError) {
  // Labels that differ from the base's answers by chance alone.
  auto faces = other_faces(30, 9);
  Random random(1, "jitter");
  Aligner base(*drawn_base());
  const auto nine = drawn_faces(30, 9);
  for (std::size_t i = 0; i < faces.size(); ++i) {
    faces[i].truth = others(base.align(nine[i].picture, nine[i].boxes.front()).points);
    for (Index k = 0; k < faces[i].truth.size(); ++k)
      faces[i].truth.data()[k] += static_cast<float>(2 * random.normal());
  }
  BaseTrainerOptions options = few_options();
  options.least_gain = 0.02;
  const TrainedOnBase result = train_on_base(faces, drawn_base(), options);
  EXPECT_TRUE(result.model.maps.empty());
  EXPECT_FALSE(result.stages.back().kept);
}

TEST(TrainingOnABase, FindsTheMirrorAndTreatsBothSidesAlike) {
  const Model& model = other_training().model;
  ASSERT_EQ(model.mirror, others_mirror());
  const TrainingFace face = other_faces(1, 10).front();
  image::Image<std::uint8_t> flipped(160, 160);
  for (int y = 0; y < 160; ++y)
    for (int x = 0; x < 160; ++x) flipped(x, y) = face.picture(159 - x, y);
  Aligner aligner(model);
  const Similarity start{45, 0, 80, 80}, mirrored_start{45, 0, 79, 80};
  const Shape found = aligner.align_from(face.picture, start).points;
  const Shape other = aligner.align_from(flipped, mirrored_start).points;
  for (Index p = 0; p < found.cols(); ++p) {
    const Index q = others_mirror()[static_cast<std::size_t>(p)];
    EXPECT_NEAR(159 - other(0, q), found(0, p), 0.05);
    EXPECT_NEAR(other(1, q), found(1, p), 0.05);
  }
  // Points of one side alone have none.
  auto faces = other_faces(30, 5);
  for (TrainingFace& one : faces) one.truth = one.truth.leftCols(1).replicate(1, 2).eval();
  for (TrainingFace& one : faces) one.truth.col(1).x() += 10;
  BaseTrainerOptions options = few_options();
  options.find_mirror = true;
  options.stages = 0;
  EXPECT_TRUE(train_on_base(faces, drawn_base(), options).model.mirror.empty());
}

TEST(TrainingOnABase, GivesTheSameModelWithAnyNumberOfThreads) {
  BaseTrainerOptions options = few_options();
  options.stages = 1;
  options.threads = 1;
  const auto faces = marked_faces(20, 11);
  const io::Model one = train_on_base(faces, drawn_base(), options).model.to_model();
  options.threads = 3;
  EXPECT_EQ(train_on_base(faces, drawn_base(), options).model.to_model(), one);
}

TEST(TrainingOnABase, NeedsNoBoxesAndNotAllPoints) {
  auto faces = other_faces(40, 5);
  Random random(2, "missing");
  for (TrainingFace& face : faces) {
    face.boxes.clear();
    for (Index p = 0; p < 2; ++p)
      face.truth.col(static_cast<Index>(random.below(6)))
          .setConstant(std::numeric_limits<float>::quiet_NaN());
  }
  const TrainedOnBase result = train_on_base(faces, drawn_base(), few_options());
  EXPECT_LT(test_error(result.model, other_faces(40, 6)),
            1.2 * test_error(other_training().model, other_faces(40, 6)));
}

TEST(AModelOnABase, SurvivesItsFileAndHasTheBasesScore) {
  const Model& model = other_training().model;
  const io::Model file = io::read(io::to_bytes(model.to_model()));
  EXPECT_EQ(file.kind, "face-on-base");
  const Model back = Model::from_model(file);
  EXPECT_EQ(back.to_model(), model.to_model());
  Aligner one(model), other(back), base(*drawn_base());
  for (const TrainingFace& face : other_faces(5, 12)) {
    const Alignment found = one.align(face.picture, face.boxes.front());
    EXPECT_EQ(found.points, other.align(face.picture, face.boxes.front()).points);
    EXPECT_EQ(found.score, base.align(face.picture, face.boxes.front()).score);
  }
}

TEST(AModelOnABase, IsFollowedByTheTracker) {
  const TrainingFace face = other_faces(1, 13).front();
  Tracker tracker(other_training().model,
                  [&](image::ByteView) { return std::vector<Box>{face.boxes.front()}; });
  for (int frame = 0; frame < 3; ++frame) {
    const TrackedFrame& seen = tracker.update(face.picture, frame / 30.0);
    ASSERT_EQ(seen.faces.size(), 1U);
    EXPECT_LT(mean_distance(seen.faces[0].points, face.truth),
              0.1 * static_cast<double>(
                        fit_similarity(drawn_mean(), drawn_faces(1, 13)[0].truth).scale()));
  }
}

TEST(AModelOnABase, ThatDoesNotFitTogetherIsRefused) {
  io::Model file = other_training().model.to_model();
  file.tensors.erase("from_base");
  EXPECT_THROW(Model::from_model(file), Error);
  file = other_training().model.to_model();
  file.tensors.erase("base.mean");
  EXPECT_THROW(Model::from_model(file), Error);
  file = other_training().model.to_model();
  file.kind = "face";  // a model without its base has no first stages
  EXPECT_THROW(Model::from_model(file), Error);
  Model model = other_training().model;
  model.from_base(0, 0) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(model.validate(), Error);
  model = other_training().model;
  model.base = std::make_shared<const Model>(model);
  EXPECT_THAT([&] { model.validate(); }, ThrowsMessage<Error>(HasSubstr("its base has a base")));
}

TEST(AModelOnABase, LeavesScoreAndAdaptationToItsBase) {
  EXPECT_THAT([] { AdaptationLearner learner(other_training().model); },
              ThrowsMessage<Error>(HasSubstr("adapt the base")));
  ThreadPool pool(1);
  EXPECT_THAT([&] { learn_confidence(other_training().model, other_faces(5, 1), 1, pool); },
              ThrowsMessage<Error>(HasSubstr("base's score")));
}

TEST(TrainingOnABase, SaysWhatIsWrong) {
  const BaseTrainerOptions options = few_options();
  EXPECT_THAT([&] { train_on_base(other_faces(3, 1), drawn_base(), options); },
              ThrowsMessage<Error>(HasSubstr("3 faces, expected at least 5")));
  auto faces = other_faces(6, 1);
  faces[4].truth = Shape::Zero(2, 5);
  EXPECT_THAT([&] { train_on_base(faces, drawn_base(), options); },
              ThrowsMessage<Error>(HasSubstr("face 4: it has 5 points, expected 6")));
  BaseTrainerOptions wrong = options;
  wrong.penalties = {-1};
  EXPECT_THAT([&] { train_on_base(other_faces(6, 1), drawn_base(), wrong); },
              ThrowsMessage<Error>(HasSubstr("a penalty is -1")));
  const auto second = std::make_shared<const Model>(other_training().model);
  EXPECT_THAT([&] { train_on_base(other_faces(6, 1), second, options); },
              ThrowsMessage<Error>(HasSubstr("has a base itself")));
}

}  // namespace
}  // namespace sdm::face
