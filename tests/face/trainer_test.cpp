#include "sdm/face/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "face/face_problem.h"
#include "sdm/error.h"
#include "sdm/face/aligner.h"
#include "sdm/io/bytes.h"
#include "tests/face/drawn_faces.h"
#include "tests/face/temporary_folder.h"

namespace sdm::face {
namespace {

using testing::HasSubstr;
using testing::Property;
using testing::ThrowsMessage;

const TrainedFace& trained() {
  static const TrainedFace result = train(drawn_faces(160, 1), drawn_faces(40, 2), drawn_options());
  return result;
}

double mean_error(const Model& model, const std::vector<TrainingFace>& faces) {
  Aligner aligner(model);
  double sum = 0;
  for (const TrainingFace& face : faces)
    sum += drawn_error(aligner.align(face.picture, face.boxes.front()).points, face.truth);
  return sum / static_cast<double>(faces.size());
}

TEST(ATrainedModel, FindsTheLandmarksOfNewFaces) {
  const auto faces = drawn_faces(60, 3);
  EXPECT_GT(trained().dev_start_error, 0.1);
  EXPECT_LT(mean_error(trained().model, faces), 0.03);
}

TEST(ATrainedModel, ErrsAsItsStagesSaid) {
  EXPECT_NEAR(trained().dev_error, trained().stages.back().dev_error, 2e-4);
}

TEST(ATrainedModel, GetsBetterWithEveryStage) {
  double before = trained().dev_start_error;
  for (const FaceStage& stage : trained().stages) {
    EXPECT_LT(stage.dev_error, before);
    before = stage.dev_error;
  }
}

TEST(ATrainedModel, SurvivesItsFile) {
  const Model back = Model::from(io::read(io::to_bytes(trained().model.to_io())));
  EXPECT_EQ(back.to_io(), trained().model.to_io());
  const auto faces = drawn_faces(5, 4);
  Aligner one(trained().model), other(back);
  for (const TrainingFace& face : faces)
    EXPECT_EQ(one.align(face.picture, face.boxes.front()).points,
              other.align(face.picture, face.boxes.front()).points);
}

TEST(ATrainedModel, SeesAMirroredFaceMirrored) {
  const TrainingFace face = drawn_faces(1, 5).front();
  image::Image<std::uint8_t> flipped(face.picture.width(), face.picture.height());
  for (int y = 0; y < flipped.height(); ++y)
    for (int x = 0; x < flipped.width(); ++x)
      flipped(x, y) = face.picture(flipped.width() - 1 - x, y);
  Aligner aligner(trained().model);
  const Frame frame = trained().model.boxes.front().frame(face.boxes.front());
  const float right = static_cast<float>(flipped.width() - 1);
  const Shape seen = aligner.align_from(face.picture, frame).points;
  const Shape other =
      aligner.align_from(flipped, Frame{frame.a, 0, right - frame.x, frame.y}).points;
  for (Index p = 0; p < seen.cols(); ++p) {
    const auto q = drawn_mirror()[static_cast<std::size_t>(p)];
    EXPECT_NEAR(other(0, p), right - seen(0, q), 0.05);
    EXPECT_NEAR(other(1, p), seen(1, q), 0.05);
  }
}

TEST(ATrainedModel, ScoresFacesAboveEmptyWalls) {
  Aligner aligner(trained().model);
  const TrainingFace face = drawn_faces(1, 6).front();
  const float on_face = aligner.align(face.picture, face.boxes.front()).score;
  const image::Image<std::uint8_t> wall(160, 160, 128);
  EXPECT_GT(on_face, aligner.align(wall, face.boxes.front()).score);
  EXPECT_GT(on_face, 0.5);
}

TEST(AnAligner, TakesFacesThatTheBorderCuts) {
  Aligner aligner(trained().model);
  const TrainingFace face = drawn_faces(1, 7).front();
  const image::ByteView half = image::ByteView(face.picture).crop(80, 0, 80, 160);
  Box box = face.boxes.front();
  box.x -= 80;
  EXPECT_TRUE(aligner.align(half, box).points.allFinite());
  EXPECT_TRUE(aligner.align(half, Box{-1000, -1000, 50, 50}).points.allFinite());
  EXPECT_TRUE(aligner.align(half.crop(0, 0, 1, 1), box).points.allFinite());
}

TEST(AnAligner, SaysWhatIsWrongWithItsInput) {
  Aligner aligner(trained().model);
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

TEST(AModelFile, ThatDoesNotFitTogetherIsRefused) {
  Model model = trained().model;
  model.maps.pop_back();
  EXPECT_THROW(model.to_io(), Error);
  io::Model file = trained().model.to_io();
  file.kind = "pose";
  EXPECT_THROW(Model::from(file), Error);
  file = trained().model.to_io();
  file.header = "{}";
  EXPECT_THAT([&] { Model::from(file); }, ThrowsMessage<Error>(HasSubstr("header")));
  file = trained().model.to_io();
  file.tensors.erase("stage1.patches");
  file.put("stage1.patches", file.tensor("stage0.left"));
  EXPECT_THAT([&] { Model::from(file); }, ThrowsMessage<Error>(HasSubstr("stage 1")));
}

TEST(AModelFile, KeepsTheShapeInSpaceAndLoadsWithoutOne) {
  Model model = trained().model;
  model.shape3d = Eigen::Matrix3Xf::Random(3, model.points());
  model.shape3d_weights = Vector<float>::Ones(model.points());
  io::Model file = model.to_io();
  EXPECT_EQ(Model::from(file).shape3d, model.shape3d);
  EXPECT_EQ(Model::from(file).shape3d_weights, model.shape3d_weights);
  file.tensors.erase("shape3d");
  file.tensors.erase("shape3d.weight");
  EXPECT_EQ(Model::from(file).shape3d.cols(), 0);
  model.shape3d_weights[0] = -1;
  EXPECT_THAT([&] { model.to_io(); }, ThrowsMessage<Error>(HasSubstr("3D shape")));
  model.shape3d_weights.resize(1);
  EXPECT_THAT([&] { model.to_io(); }, ThrowsMessage<Error>(HasSubstr("1 weights")));
}

TEST(Training, GivesTheSameBitsForAnyNumberOfThreads) {
  const auto faces = drawn_faces(60, 8);
  TrainerOptions options = drawn_options();
  options.threads = 1;
  const io::Model one = train(faces, {}, options).model.to_io();
  options.threads = 3;
  EXPECT_EQ(one, train(faces, {}, options).model.to_io());
}

TEST(Training, GoesOnFromItsCheckpointAndNotFromAnothers) {
  const auto faces = drawn_faces(60, 9);
  const TemporaryFolder folder;
  TrainerOptions options = drawn_options();
  const io::Model straight = train(faces, {}, options).model.to_io();
  options.checkpoint = (folder.path() / "checkpoint").string();
  TrainerObserver stop;
  stop.stage = [](const FaceStage& at) {
    if (at.stage.stage == 1) throw Error("stop");
  };
  EXPECT_THROW(train(faces, {}, options, stop), Error);
  const TrainedFace resumed = train(faces, {}, options);
  EXPECT_EQ(resumed.summary.resumed_from, 2);
  EXPECT_EQ(resumed.model.to_io(), straight);
  options.recipe.stages[0].cell = 7;
  EXPECT_THROW(train(faces, {}, options), Error);
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

TEST(Training, NamesTheFaceItCannotUse) {
  auto faces = drawn_faces(5, 1);
  faces[3].truth.conservativeResize(2, 8);
  EXPECT_THAT([&] { train(faces, {}, drawn_options()); },
              ThrowsMessage<Error>(HasSubstr("face 3: it has 8 points, expected 9")));
  EXPECT_THAT([] { TrainerOptions::preset("best"); }, ThrowsMessage<Error>(HasSubstr("'best'")));
}

TEST(ATrimmedFace, IsTheSameFaceInFewerPixels) {
  std::mt19937 random(1);
  Shape truth = drawn_mean();
  Frame{200, 0, 400, 300}.to_image(drawn_mean(), truth);
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
  one.problem.step(x, delta, moved);
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
