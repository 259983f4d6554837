#include "sdm/face/adapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "face/shape_state.h"
#include "face/stage_features.h"
#include "face/starts.h"
#include "sdm/base/error.h"
#include "sdm/face/aligner.h"
#include "sdm/face/train/adaptation_learner.h"
#include "sdm/io/bytes.h"
#include "tests/face/drawn_faces.h"
#include "tests/temporary_folder.h"

namespace sdm::face {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

const Model& general() {
  static const Model model = train(drawn_faces(160, 1), {}, drawn_options()).model;
  return model;
}

const Adaptation& state() {
  static const Adaptation learned = [] {
    AdaptationLearner learner(general());
    for (const TrainingFace& face : drawn_faces(160, 1)) learner.add(face.picture, face.truth);
    return learner.finish();
  }();
  return learned;
}

/// Frames of one odd face: its nose is labelled lower, its brows higher than all faces' of the
/// training. It moves, turns and grows; its expression stays.
std::vector<TrainingFace> person(int frames) {
  std::mt19937 random(77);
  Shape shape = drawn_mean();
  shape(1, 4) += 0.05F;
  std::vector<TrainingFace> result;
  for (int t = 0; t < frames; ++t) {
    const auto time = static_cast<float>(t);
    const float unit = 45 + 8 * std::sin(0.5F * time), angle = 0.25F * std::sin(0.4F * time);
    const Similarity frame{unit * std::cos(angle), unit * std::sin(angle),
                           80 + 10 * std::sin(0.7F * time), 80 + 8 * std::cos(0.6F * time)};
    TrainingFace face;
    Shape drawn(2, shape.cols());
    frame.to_image(shape, drawn);
    face.picture = draw(drawn, unit, 160, 160, random);
    Shape labelled = shape;
    labelled(1, 4) += 0.1F;
    labelled.row(1).rightCols(2).array() -= 0.06F;
    face.truth = labelled;
    frame.to_image(labelled, face.truth);
    result.push_back(std::move(face));
  }
  return result;
}

double error_on(const Model& model, const TrainingFace& face) {
  Aligner aligner(model);
  Similarity frame = fit_similarity(model.mean, face.truth);
  frame.x += 0.05F * frame.scale();
  return drawn_error(aligner.align_from(face.picture, frame).points, face.truth);
}

TEST(AnAdapter, LearnsAPersonFromOneFrameForAllTheOthers) {
  const std::vector<TrainingFace> frames = person(12);
  Adapter adapter(general(), state());
  adapter.update(frames[0].picture, frames[0].truth);
  for (const TrainingFace& frame : frames)
    EXPECT_LT(error_on(adapter.model(), frame), 0.5 * error_on(general(), frame));
}

TEST(AnAdapter, LeavesOtherFacesMuchAsTheyWere) {
  const TrainingFace frame = person(1).front();
  Adapter adapter(general(), state());
  adapter.update(frame.picture, frame.truth, {.weight = 1});
  double before = 0, after = 0;
  for (const TrainingFace& face : drawn_faces(40, 3)) {
    before += error_on(general(), face);
    after += error_on(adapter.model(), face);
  }
  EXPECT_LT((after - before) / 40, 0.05 * error_on(general(), frame));
}

TEST(AnAdapter, GivesAModelOfTheSameSize) {
  const TrainingFace frame = person(1).front();
  Adapter adapter(general(), state());
  adapter.update(frame.picture, frame.truth);
  const auto bytes = [](const Model& model) { return io::to_bytes(model.to_model()).size(); };
  EXPECT_EQ(bytes(adapter.model()), bytes(general()));
  EXPECT_NE(fingerprint(adapter.model()), fingerprint(general()));
}

/// [left, bias] as one matrix on phi = [z; 1], in the sign of delta.
Matrix<double> whole(const CompactMap& map) {
  Matrix<double> r(map.left.rows(), map.rank() + 1);
  r << -map.left.cast<double>(), map.bias.cast<double>();
  return r;
}

// A face in the state that a stage meets, and what the stage should do about it.
struct StageSample {
  StageSample(const TrainingFace& frame, int number, Random& random)
      : frame_(frame), features_(general()), state_(shape_state_size(general().points())) {
    features_.start(frame.picture);
    put_state(general().mean, labelled_start(number, frame.truth, general(), random), state_);
  }
  Vector<double> phi(std::size_t stage) {
    Vector<float> z(general().maps[stage].rank());
    features_(static_cast<int>(stage), state_, z);
    Vector<double> result(z.size() + 1);
    result << z.cast<double>(), 1;
    return result;
  }
  Vector<double> missing() const {
    Vector<float> delta(2 * general().points());
    shape_difference(state_, frame_.truth, delta);
    return delta.cast<double>();
  }
  void step(std::size_t stage, const Vector<double>& delta) {
    const Vector<float> before = state_;
    shape_step(general().recipe, general().mean, static_cast<int>(stage), before,
               delta.cast<float>(), state_);
  }

 private:
  const TrainingFace& frame_;
  StageFeatures features_;
  Vector<float> state_;
};

// With training data of the covariance S and the solution R0, the ridge solution on the data and
// one more sample of weight w, all earlier ones weighing lambda, is R0 + w (d - R0 phi) phi^T
// (lambda S + w phi phi^T)^-1.
TEST(AnAdapter, AgreesWithTheRidgeSolutionOnAllSamples) {
  const TrainingFace frame = person(1).front();
  const AdapterOptions options{.weight = 7, .forgetting = 0.6, .starts = 1, .seed = 5};
  Adapter adapter(general(), state());
  adapter.update(frame.picture, frame.truth, options);

  Random random(options.seed, "adapter starts", 0);
  StageSample sample(frame, 0, random);
  for (std::size_t k = 0; k < general().maps.size(); ++k) {
    const Vector<double> phi = sample.phi(k), delta = sample.missing();
    const Matrix<double> r0 = whole(general().maps[k]);
    const Matrix<double> covariance =
        options.forgetting * state().inverse_covariances[k].inverse() +
        options.weight * phi * phi.transpose();
    const Matrix<double> expected =
        r0 + options.weight * (delta - r0 * phi) * phi.transpose() * covariance.inverse();
    const Matrix<double> found = whole(adapter.model().maps[k]);
    EXPECT_LT((found - expected).norm(), 1e-5 * expected.norm()) << "stage " << k;
    EXPECT_LT((adapter.state().inverse_covariances[k] * covariance -
               Matrix<double>::Identity(phi.size(), phi.size()))
                  .norm(),
              1e-5)
        << "stage " << k;
    // The next stage sees where the updated map leads.
    sample.step(k, expected * phi);
  }
}

TEST(AnAdapter, AgreesWithTheRidgeSolutionOnManyStartsAndFrames) {
  const std::vector<TrainingFace> frames = person(3);
  const AdapterOptions options{.weight = 3, .forgetting = 0.9, .starts = 4, .seed = 2};
  Adapter adapter(general(), state());
  for (const TrainingFace& frame : frames) adapter.update(frame.picture, frame.truth, options);

  // The first stage alone: what it sees does not depend on what is learned.
  const Matrix<double> r0 = whole(general().maps[0]);
  Matrix<double> covariance = state().inverse_covariances[0].inverse(), right = r0 * covariance;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    covariance *= options.forgetting;
    right *= options.forgetting;
    Random random(options.seed, "adapter starts", i);  // each frame has starts of its own
    for (int start = 0; start < options.starts; ++start) {
      StageSample sample(frames[i], start, random);
      const Vector<double> phi = sample.phi(0);
      covariance += options.weight * phi * phi.transpose();
      right += options.weight * sample.missing() * phi.transpose();
    }
  }
  const Matrix<double> expected = right * covariance.inverse();
  EXPECT_LT((whole(adapter.model().maps[0]) - expected).norm(), 1e-5 * expected.norm());
}

TEST(AnAdapter, ForgetsEarlierFramesWhenAsked) {
  std::vector<TrainingFace> frames = person(2);
  // The second label says the opposite of the first.
  const Shape found =
      Aligner(general())
          .align_from(frames[1].picture, fit_similarity(general().mean, frames[1].truth))
          .points;
  frames[1].truth = 2 * found - frames[1].truth;
  const auto adapted = [&](double forgetting) {
    Adapter adapter(general(), state());
    adapter.update(frames[0].picture, frames[0].truth, {.weight = 1000});
    adapter.update(frames[1].picture, frames[1].truth, {.weight = 30, .forgetting = forgetting});
    return error_on(adapter.model(), frames[1]);
  };
  EXPECT_LT(adapted(0.03), 0.7 * adapted(1));
}

TEST(AnAdapter, LearnsNothingOfPointsThatAreNotKnown) {
  TrainingFace frame = person(1).front();
  frame.truth.col(4).setConstant(kUnknown);
  Adapter adapter(general(), state());
  adapter.update(frame.picture, frame.truth);
  for (std::size_t k = 0; k < general().maps.size(); ++k) {
    const Matrix<float> changed = adapter.model().maps[k].left - general().maps[k].left;
    EXPECT_LT(changed.middleRows(8, 2).norm(), 1e-5F * general().maps[k].left.norm());
    EXPECT_GT(changed.bottomRows(4).norm(), 1e-3F * general().maps[k].left.norm());
  }
}

TEST(AnAdapter, GoesOnFromItsFilesAsIfItHadNotStopped) {
  const std::vector<TrainingFace> frames = person(2);
  Adapter whole(general(), state());
  whole.update(frames[0].picture, frames[0].truth);
  const TemporaryFolder folder;
  whole.model().save(folder.path() / "person.sdm");
  whole.state().save(Adaptation::beside(folder.path() / "person.sdm"));
  whole.update(frames[1].picture, frames[1].truth);

  Adapter later(Model::load(folder.path() / "person.sdm"),
                Adaptation::load(folder.path() / "person.adaptation.sdm"));
  later.update(frames[1].picture, frames[1].truth);
  for (std::size_t k = 0; k < general().maps.size(); ++k)
    EXPECT_LT((later.model().maps[k].left - whole.model().maps[k].left).norm(),
              1e-6F * whole.model().maps[k].left.norm());
}

TEST(AnAdapter, SaysWhatIsWrongAndChangesNothing) {
  const TrainingFace frame = person(1).front();
  Adapter adapter(general(), state());
  const auto fails = [&](image::ByteView grey, const Shape& truth, const AdapterOptions& options,
                         const char* why) {
    EXPECT_THAT([&] { adapter.update(grey, truth, options); },
                ThrowsMessage<Error>(HasSubstr(why)));
  };
  const Shape& truth = frame.truth;
  fails({}, truth, {}, "the picture is 0 x 0");
  fails(frame.picture, truth.leftCols(5), {}, "5 points, the model has 9");
  fails(frame.picture, truth.array() + 500, {},
        "0 of the 9 points lie inside the picture of 160 x 160");
  Shape few = truth;
  few.rightCols(6).setConstant(kUnknown);
  fails(frame.picture, few, {}, "3 of the 9 points are known");
  fails(frame.picture, Shape::Constant(2, 9, 80), {}, "all lie in one place");
  Shape shuffled = truth;
  for (Index p = 0; p < 9; ++p) shuffled.col(p) = truth.col((p * 4) % 9);
  fails(frame.picture, shuffled, {}, "in another order?");
  fails(frame.picture, truth, {.weight = 0}, "the weight is 0");
  fails(frame.picture, truth, {.forgetting = 1.5}, "forgetting is 1.5");
  fails(frame.picture, truth, {.starts = 0}, "0 starts");
  EXPECT_EQ(fingerprint(adapter.model()), fingerprint(general()));
}

TEST(AnAdapter, RefusesTheStateOfAnotherModel) {
  Model other = general();
  other.maps[1].left(0, 0) += 1e-3F;
  EXPECT_THAT([&] { Adapter(other, state()); },
              ThrowsMessage<Error>(HasSubstr("belongs to another model")));
  Adaptation cut = state();
  cut.inverse_covariances.pop_back();
  EXPECT_THAT([&] { Adapter(general(), cut); },
              ThrowsMessage<Error>(HasSubstr("2 stages, the model 3")));
}

TEST(AnAdaptationState, SurvivesItsFile) {
  const Adaptation back = Adaptation::from_model(io::read(io::to_bytes(state().to_model())));
  EXPECT_EQ(back.to_model(), state().to_model());
  EXPECT_EQ(back.fingerprint, fingerprint(general()));
}

TEST(AnAdaptationState, IsNotReadFromOtherFiles) {
  EXPECT_THAT([] { Adaptation::from_model(general().to_model()); },
              ThrowsMessage<Error>(HasSubstr("face-adaptation")));
  io::Model file = state().to_model();
  file.header = R"({"name": "x"})";
  EXPECT_THAT([&] { Adaptation::from_model(file); }, ThrowsMessage<Error>(HasSubstr("the header")));
}

TEST(AnAdaptationState, SeesBothSidesOfAFaceAlike) {
  for (std::size_t k = 0; k < general().maps.size(); ++k) {
    const Matrix<double> covariance = state().inverse_covariances[k].inverse();
    const CompactMap& map = general().maps[k];
    // What tells the sides apart has no mean and goes with nothing that does not.
    const auto odd = covariance.middleCols(map.even, map.rank() - map.even);
    EXPECT_LT(odd.topRows(map.even).norm(), 1e-6 * covariance.norm());
    EXPECT_LT(odd.bottomRows(1).norm(), 1e-6 * covariance.norm());
  }
}

TEST(AnAdaptationState, CountsTheSamplesOfTheTrainingData) {
  AdaptationLearner learner(general(), {.starts = 3, .robust = 0});
  for (const TrainingFace& face : drawn_faces(10, 1)) learner.add(face.picture, face.truth);
  // Each face, its mirror image, three starts; the last entry of phi is 1.
  const Matrix<double> covariance = learner.finish().inverse_covariances.back().inverse();
  EXPECT_NEAR(covariance(covariance.rows() - 1, covariance.cols() - 1), 60, 0.1);
  EXPECT_THAT([] { AdaptationLearner(general()).finish(); },
              ThrowsMessage<Error>(HasSubstr("no faces")));
}

}  // namespace
}  // namespace sdm::face
