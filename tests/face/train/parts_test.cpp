#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "sdm/base/error.h"
#include "sdm/face/adapter.h"
#include "sdm/face/aligner.h"
#include "sdm/face/train/adaptation_learner.h"
#include "sdm/face/train/trainer.h"
#include "tests/face/drawn_faces.h"

namespace sdm::face {
namespace {

const std::vector<int> kMouth = {5, 6};

TrainerOptions options_with_parts() {
  TrainerOptions options = drawn_options();
  options.recipe.stages = {{2, 6, true}, {2, 5, true}};
  options.recipe.stages.push_back({3, 3, false, kMouth, 0.5F});
  return options;
}

const TrainedFace& training_with_parts() {
  static const TrainedFace result =
      train(drawn_faces(160, 1), drawn_faces(40, 2), options_with_parts());
  return result;
}

/// Mean distance of some points over the unit.
double part_error(const Model& model, const std::vector<TrainingFace>& faces,
                  const std::vector<int>& points) {
  Aligner aligner(model);
  double sum = 0;
  for (const TrainingFace& face : faces) {
    const Shape& found = aligner.align(face.picture, face.boxes.front()).points;
    for (const int p : points)
      sum += static_cast<double>((found.col(p) - face.truth.col(p)).norm() /
                                 (face.truth.col(0) - face.truth.col(3)).norm());
  }
  return sum / static_cast<double>(faces.size() * points.size());
}

TEST(AStageOfAPart, MovesItsPointsToTheTruthAndNoOthers) {
  const auto faces = drawn_faces(60, 3);
  Model before = training_with_parts().model;
  before.recipe.stages.resize(2);
  before.maps.resize(2);
  const std::vector<int> others = {0, 1, 2, 3, 4, 7, 8};
  const Model& model = training_with_parts().model;
  EXPECT_LT(part_error(model, faces, kMouth), 0.7 * part_error(before, faces, kMouth));
  EXPECT_DOUBLE_EQ(part_error(model, faces, others), part_error(before, faces, others));
}

TEST(AStageOfAPart, HasAMapOfItsPointsAlone) {
  const CompactMap& map = training_with_parts().model.maps.back();
  EXPECT_EQ(map.left.rows(), 4);
  EXPECT_EQ(map.bias.size(), 4);
  EXPECT_EQ(map.shape.cols(), 18);
  EXPECT_LT(map.values.shape()[0], training_with_parts().model.maps[0].values.shape()[0]);
}

TEST(AModelWithParts, ErrsAsItsStagesSaid) {
  EXPECT_NEAR(training_with_parts().dev_error, training_with_parts().stages.back().dev_error, 3e-4);
}

TEST(AModelWithParts, IsTheSameAfterAFile) {
  const Model& model = training_with_parts().model;
  const Model back = Model::from_model(model.to_model());
  Aligner one(model), other(back);
  for (const TrainingFace& face : drawn_faces(5, 9)) {
    const Alignment first = one.align(face.picture, face.boxes.front());
    const Alignment& second = other.align(face.picture, face.boxes.front());
    EXPECT_EQ(first.points, second.points);
    EXPECT_EQ(first.score, second.score);
  }
}

TEST(AModelWithParts, IsAdaptedInThePartsPointsAlone) {
  const Model& model = training_with_parts().model;
  AdaptationLearner learner(model);
  for (const TrainingFace& face : drawn_faces(60, 10)) learner.add(face.picture, face.truth);
  Adapter adapter(model, learner.finish());
  // Somebody whose mouth is elsewhere.
  TrainingFace person = drawn_faces(1, 11).front();
  person.truth.row(1)(5) += 3;
  person.truth.row(1)(6) += 3;
  for (int i = 0; i < 20; ++i) adapter.update(person.picture, person.truth);
  EXPECT_EQ(adapter.model().maps.back().left.rows(), 4);
  const std::vector<TrainingFace> seen = {person};
  EXPECT_LT(part_error(adapter.model(), seen, kMouth), 0.5 * part_error(model, seen, kMouth));
}

TEST(APreset, HasStagesOfThePartsWhereTheyAreKnown) {
  const FaceParts parts{{0, 1}, {2, 3}, {4}, {5, 6}, {7, 8}};
  const TrainerOptions plain = TrainerOptions::preset("accurate"),
                       in_parts = TrainerOptions::preset("accurate", parts);
  for (const StageRecipe& stage : plain.recipe.stages) EXPECT_TRUE(stage.points.empty());
  EXPECT_TRUE(in_parts.recipe.stages.front().points.empty());
  EXPECT_EQ(in_parts.penalties.size(), in_parts.recipe.stages.size());
  std::array<int, 9> moved{};
  for (const StageRecipe& stage : in_parts.recipe.stages)
    for (const int point : stage.points) ++moved[static_cast<std::size_t>(point)];
  EXPECT_THAT(moved, testing::Each(testing::Gt(0)));
}

// Labels of somebody who clicks to one side of what there is to see.
std::vector<TrainingFace> labelled_aside(int count, unsigned seed, float units) {
  std::vector<TrainingFace> faces = drawn_faces(count, seed);
  for (TrainingFace& face : faces) {
    const Similarity place = fit_similarity(drawn_mean(), face.truth);
    face.truth.colwise() += place.turned({units, 0});
  }
  return faces;
}

TEST(TheLabelsOffset, IsLearnedThoughTheMapsTreatBothSidesAlike) {
  const auto faces = labelled_aside(60, 3, 0.03F);
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const Model model = train(labelled_aside(160, 1, 0.03F), {}, drawn_options()).model;
  EXPECT_NEAR(model.label_offset.x(), 0.03, 0.005);
  EXPECT_EQ(model.label_offset.y(), 0);
  Model without = model;
  without.label_offset.setZero();
  EXPECT_LT(part_error(model, faces, all), part_error(without, faces, all) - 0.01);
  // Switched off, the answers are where the pictures say.
  EXPECT_LT(part_error(without, drawn_faces(60, 3), all),
            part_error(model, drawn_faces(60, 3), all));

  const Model back = Model::from_model(model.to_model());
  EXPECT_EQ(back.label_offset, model.label_offset);
}

TEST(TheLabelsOffset, IsNoneWithoutAMirrorOrIfNotWanted) {
  const auto faces = labelled_aside(60, 1, 0.03F);
  TrainerOptions options = drawn_options();
  options.label_offset = false;
  EXPECT_TRUE(train(faces, {}, options).model.label_offset.isZero(0));
  options.label_offset = true;
  options.mirror.clear();
  const Model model = train(faces, {}, options).model;
  EXPECT_TRUE(model.label_offset.isZero(0));
}

TEST(TheLabelsOffset, IsNotLearnedFromChance) {
  EXPECT_TRUE(drawn_training().model.label_offset.isZero(0));
}

}  // namespace
}  // namespace sdm::face
