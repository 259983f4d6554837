#include "sdm/face/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "face/train/face_problem.h"
#include "sdm/base/error.h"
#include "sdm/base/random.h"
#include "sdm/face/aligner.h"
#include "sdm/io/bytes.h"
#include "tests/face/drawn_faces.h"
#include "tests/temporary_folder.h"

namespace sdm::face {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

double mean_error(const Model& model, const std::vector<TrainingFace>& faces) {
  Aligner aligner(model);
  double sum = 0;
  for (const TrainingFace& face : faces)
    sum += drawn_error(aligner.align(face.picture, face.boxes.front()).points, face.truth);
  return sum / static_cast<double>(faces.size());
}

TEST(ATrainedModel, FindsTheLandmarksOfNewFaces) {
  const auto faces = drawn_faces(60, 3);
  EXPECT_GT(drawn_training().dev_start_error, 0.1);
  EXPECT_LT(mean_error(drawn_training().model, faces), 0.03);
}

TEST(ATrainedModel, ErrsAsItsStagesSaid) {
  EXPECT_NEAR(drawn_training().dev_error, drawn_training().stages.back().dev_error, 2e-4);
}

TEST(ATrainedModel, GetsBetterWithEveryStage) {
  double before = drawn_training().dev_start_error;
  for (const FaceStage& stage : drawn_training().stages) {
    EXPECT_LT(stage.dev_error, before);
    before = stage.dev_error;
  }
}

std::vector<TrainingFace> with_missing_points(std::vector<TrainingFace> faces, double share) {
  Random random(7, "missing points");
  for (TrainingFace& face : faces)
    for (Index p = 0; p < face.truth.cols(); ++p)
      if (random.uniform(0, 1) < share)
        face.truth.col(p).setConstant(std::numeric_limits<float>::quiet_NaN());
  return faces;
}

TEST(ATrainedModel, HardlySuffersIfThirtyPercentOfThePointsAreMissing) {
  const auto faces = drawn_faces(60, 3);
  std::vector<TrainingFace> missing = with_missing_points(drawn_faces(160, 1), 0.3);
  // A quarter of the points must be known.
  std::erase_if(missing, [](const TrainingFace& face) {
    return face.truth.row(0).array().isNaN().count() > 6;
  });
  ASSERT_GT(missing.size(), 150U);
  const TrainedFace trained = train(missing, {}, drawn_options());
  EXPECT_LT(mean_error(trained.model, faces), 1.1 * mean_error(drawn_training().model, faces));
}

TEST(ATrainedModel, LearnsEveryStageFromFacesThatAreNew) {
  TrainerOptions options = drawn_options();
  std::vector<int> stages;
  options.fresh = [&](int stage) {
    stages.push_back(stage);
    return drawn_faces(60, 100 + static_cast<std::uint64_t>(stage));
  };
  const auto faces = drawn_faces(60, 1);
  const TrainedFace trained = train(faces, {}, options);
  ASSERT_GT(trained.stages.size(), 1U);
  std::vector<int> further;
  for (int stage = 1; stage < static_cast<int>(trained.stages.size()); ++stage)
    further.push_back(stage);
  EXPECT_EQ(stages, further);
  const auto others = drawn_faces(60, 3);
  const double fresh = mean_error(trained.model, others);
  options.threads = 3;
  EXPECT_EQ(io::to_bytes(train(faces, {}, options).model.to_model()),
            io::to_bytes(trained.model.to_model()));
  options.fresh = {};
  // As many faces at once in memory, more of them in all.
  EXPECT_LT(fresh, mean_error(train(faces, {}, options).model, others));
}

TEST(ATrainedModel, RefusesNewFacesThatItCannotLearnFrom) {
  TrainerOptions options = drawn_options();
  const auto run = [&] { train(drawn_faces(30, 1), {}, options); };
  options.fresh = [](int) { return drawn_faces(29, 2); };
  EXPECT_THAT(run, ThrowsMessage<Error>(HasSubstr("29 new faces for stage 1, expected 30")));
  options.fresh = [](int) { return with_missing_points(drawn_faces(30, 2), 0.1); };
  EXPECT_THAT(run, ThrowsMessage<Error>(HasSubstr("a point is not known")));
  options.turned = 1;
  EXPECT_THAT(run, ThrowsMessage<Error>(HasSubstr("turned copies")));
}

TEST(ATrainedModel, KeepsOnlyTheStagesThatLowerTheHeldOutError) {
  const auto faces = drawn_faces(40, 4);
  TrainerOptions options = drawn_options();
  // The last ones look at patches that tell nothing.
  options.recipe.stages.resize(6, {2, 1, false});
  options.penalties = {0.01, 0.01, 0.01, 1e-6};
  const std::vector<double> errors = held_out_errors(faces, options);
  ASSERT_EQ(errors.size(), 6U);
  EXPECT_EQ(train(faces, {}, options).model.maps.size(), 6U);
  options.fewest_stages = true;
  const TrainedFace trained = train(faces, {}, options);
  ASSERT_LT(trained.model.maps.size(), 6U);
  EXPECT_EQ(trained.model.recipe.stages.size(), trained.model.maps.size());
  const auto least = std::min_element(errors.begin(), errors.end());
  EXPECT_LT(errors[trained.model.maps.size() - 1], 1.01 * *least);
  EXPECT_DOUBLE_EQ(trained.stages[0].held_out_error, errors[0]);
}

TEST(ATrainedModel, SeesAMirroredFaceMirrored) {
  const TrainingFace face = drawn_faces(1, 5).front();
  image::Image<std::uint8_t> flipped(face.picture.width(), face.picture.height());
  for (int y = 0; y < flipped.height(); ++y)
    for (int x = 0; x < flipped.width(); ++x)
      flipped(x, y) = face.picture(flipped.width() - 1 - x, y);
  Aligner aligner(drawn_training().model);
  const Similarity frame = drawn_training().model.boxes.front().similarity(face.boxes.front());
  const float right = static_cast<float>(flipped.width() - 1);
  const Shape seen = aligner.align_from(face.picture, frame).points;
  const Shape other =
      aligner.align_from(flipped, Similarity{frame.a, 0, right - frame.x, frame.y}).points;
  for (Index p = 0; p < seen.cols(); ++p) {
    const auto q = drawn_mirror()[static_cast<std::size_t>(p)];
    EXPECT_NEAR(other(0, p), right - seen(0, q), 0.05);
    EXPECT_NEAR(other(1, p), seen(1, q), 0.05);
  }
}

TEST(ATrainedModel, ScoresFacesAboveEmptyWalls) {
  Aligner aligner(drawn_training().model);
  const TrainingFace face = drawn_faces(1, 6).front();
  const float on_face = aligner.align(face.picture, face.boxes.front()).score;
  const image::Image<std::uint8_t> wall(160, 160, 128);
  EXPECT_GT(on_face, aligner.align(wall, face.boxes.front()).score);
  EXPECT_GT(on_face, 0.5);
}

TEST(Training, GivesTheSameBitsForAnyNumberOfThreads) {
  const auto faces = drawn_faces(60, 8);
  TrainerOptions options = drawn_options();
  options.threads = 1;
  const io::Model one = train(faces, {}, options).model.to_model();
  options.threads = 3;
  EXPECT_EQ(one, train(faces, {}, options).model.to_model());
}

TEST(Training, GoesOnFromItsCheckpointAndNotFromAnothers) {
  const auto faces = drawn_faces(60, 9);
  const TemporaryFolder folder;
  TrainerOptions options = drawn_options();
  const io::Model straight = train(faces, {}, options).model.to_model();
  options.checkpoint = (folder.path() / "checkpoint").string();
  TrainerObserver stop;
  stop.stage = [](const FaceStage& at) {
    if (at.stage.stage == 1) throw Error("stop");
  };
  EXPECT_THROW(train(faces, {}, options, stop), Error);
  const TrainedFace resumed = train(faces, {}, options);
  EXPECT_EQ(resumed.summary.resumed_from, 2);
  EXPECT_EQ(resumed.model.to_model(), straight);
  TrainerOptions other = options;
  other.recipe.stages[0].cell = 7;
  EXPECT_THROW(train(faces, {}, other), Error);
  other = options;
  other.recipe.unit -= 7;
  other.recipe.shape_weight += 1;
  EXPECT_THROW(train(faces, {}, other), Error);
  other = options;
  other.robust = 0.05;
  EXPECT_THROW(train(faces, {}, other), Error);
}

TEST(Training, TakesEachBoxAsItsOwnDetectorsWhereAnotherFoundNothing) {
  TrainerOptions options = drawn_options();
  options.box_starts = 2;
  options.detectors = {"drawn", "wide"};
  auto faces = drawn_faces(60, 8);
  for (TrainingFace& face : faces) {
    Box wide = face.boxes.front();
    wide.x -= 0.3F * wide.width;
    wide.y -= 0.1F * wide.height;
    wide.width *= 1.5F;
    wide.height *= 1.5F;
    face.boxes.push_back(wide);
  }
  const io::Model two = train(faces, {}, options).model.to_model();
  options.detectors = {"drawn", "blind", "wide"};
  for (TrainingFace& face : faces) face.boxes.insert(face.boxes.begin() + 1, Box{});
  EXPECT_EQ(train(faces, {}, options).model.to_model(), two);
}

TEST(Training, WorksWithoutAMirrorAndAtALowerRank) {
  const auto faces = drawn_faces(160, 1), test = drawn_faces(40, 3);
  TrainerOptions options = drawn_options();
  options.rank = 12;
  EXPECT_LT(mean_error(train(faces, {}, options).model, test), 0.04);
  options.mirror.clear();
  EXPECT_LT(mean_error(train(faces, {}, options).model, test), 0.05);
}

TEST(Training, FillsMissingPoints) {
  auto faces = drawn_faces(160, 1);
  for (std::size_t i = 0; i < faces.size(); i += 4)
    faces[i]
        .truth.col(static_cast<Index>(i) % 9)
        .setConstant(std::numeric_limits<float>::quiet_NaN());
  EXPECT_LT(mean_error(train(faces, {}, drawn_options()).model, drawn_faces(40, 3)), 0.04);
}

TEST(Training, HoldsEachStageBackByItsOwnPenalty) {
  TrainerOptions options = drawn_options();
  options.penalties = {0.02, 0.5};
  std::vector<double> used;
  for (const FaceStage& at : train(drawn_faces(12, 1), {}, options).stages)
    used.push_back(at.stage.penalty_factor);
  EXPECT_THAT(used,
              ElementsAre(DoubleNear(0.02, 1e-6), DoubleNear(0.5, 1e-6), DoubleNear(0.5, 1e-6)));
}

TEST(Training, SaysWhyThePointsInSpaceAreNotKnown) {
  const TrainedFace few = train(drawn_faces(5, 1), {}, drawn_options());
  EXPECT_EQ(few.model.shape3d.cols(), 0);
  EXPECT_THAT(few.shape3d_message, HasSubstr("5 views have all their points, expected at least 6"));
  const TrainedFace enough = train(drawn_faces(12, 1), {}, drawn_options());
  EXPECT_EQ(enough.model.shape3d.cols(), 9);
  EXPECT_EQ(enough.shape3d_message, "");
}

TEST(Training, NamesTheFaceItCannotUse) {
  auto faces = drawn_faces(5, 1);
  faces[3].truth.conservativeResize(2, 8);
  EXPECT_THAT([&] { train(faces, {}, drawn_options()); },
              ThrowsMessage<Error>(HasSubstr("face 3: it has 8 points, expected 9")));
  faces = drawn_faces(5, 1);
  faces[2].truth.colwise() = Eigen::Vector2f(40, 50);
  EXPECT_THAT([&] { train(faces, {}, drawn_options()); },
              ThrowsMessage<Error>(HasSubstr("face 2: all its points lie in one place")));
  EXPECT_THAT([&] { train(drawn_faces(5, 1), faces, drawn_options()); },
              ThrowsMessage<Error>(HasSubstr("dev face 2: all its points lie in one place")));
  TrainerOptions from_one = drawn_options();
  for (int& partner : from_one.mirror) ++partner;
  EXPECT_THAT([&] { train(drawn_faces(5, 1), {}, from_one); },
              ThrowsMessage<Error>(HasSubstr("the mirror says point 0 becomes 4")));
  EXPECT_THAT([] { TrainerOptions::preset("best"); }, ThrowsMessage<Error>(HasSubstr("'best'")));
}

TEST(ATrimmedFace, IsTheSameFaceInFewerPixels) {
  std::mt19937 random(1);
  Shape truth = drawn_mean();
  Similarity{200, 0, 400, 300}.to_image(drawn_mean(), truth);
  const auto picture = draw(truth, 200, 800, 700, random);
  Recipe recipe = drawn_options().recipe;
  const TrainingFace face = trim(picture, truth, {{300, 250, 100, 100}}, recipe);
  EXPECT_LT(face.picture.width(), 200);
  const Index spot = 4;  // the darkest place of the nose stays under its point
  const int x = static_cast<int>(std::lround(face.truth(0, spot))),
            y = static_cast<int>(std::lround(face.truth(1, spot)));
  EXPECT_LT(face.picture(x, y), 90);
  const float factor =
      (truth.col(0) - truth.col(3)).norm() / (face.truth.col(0) - face.truth.col(3)).norm();
  EXPECT_NEAR(face.boxes.front().width * factor, 100, 1e-3);
}

// What the general trainer relies on.
struct OneProblem {
  std::vector<TrainingFace> faces = drawn_faces(1, 11);
  Recipe recipe = drawn_options().recipe;
  Shape mean = drawn_mean();
  std::vector<int> mirror = drawn_mirror();
  FaceProblem problem{faces, recipe, mean, mirror, {0}};
};

TEST(AFaceProblem, StepsOntoTheTargetByTheDifference) {
  const OneProblem one;
  const Vector<float> x = one.problem.start({40, 5, 70, 75}),
                      target = one.problem.target(one.faces[0].truth);
  Vector<float> delta(18), moved(one.problem.state_size()), rest(18);
  one.problem.difference(x, target, delta);
  one.problem.step(0, x, delta, moved);
  one.problem.difference(moved, target, rest);
  EXPECT_GT(delta.norm(), 0.1);
  EXPECT_LT(rest.cwiseAbs().maxCoeff(), 1e-4);
}

TEST(AFaceProblem, HasTheSymmetryItClaims) {
  OneProblem one;
  const int stage = 2, width = one.faces[0].picture.width();
  const float right = static_cast<float>(width - 1);
  Vector<float> f(one.problem.feature_size(stage)), g = f;
  Vector<float> x = one.problem.start({40, 5, 70, 75});
  x[0] += 0.1F;  // not the mean shape
  x[11] += 0.05F;
  one.problem.features(0, stage, x, f);
  // The same face and state in a mirror.
  auto& picture = one.faces[0].picture;
  for (int y = 0; y < picture.height(); ++y) std::reverse(&picture(0, y), &picture(0, y) + width);
  Vector<float> y = one.problem.start({40, -5, right - 70, 75});
  const Symmetry symmetry = one.problem.symmetry(stage);
  for (Index i = 0; i < 18; ++i)
    y[i] = symmetry.deltas.sign[static_cast<std::size_t>(i)] *
           x[symmetry.deltas.partner[static_cast<std::size_t>(i)]];
  one.problem.features(0, stage, y, g);
  for (Index i = 0; i < f.size(); ++i)
    ASSERT_NEAR(g[i],
                symmetry.features.sign[static_cast<std::size_t>(i)] *
                    f[symmetry.features.partner[static_cast<std::size_t>(i)]],
                2e-3)
        << i;
}

}  // namespace
}  // namespace sdm::face
