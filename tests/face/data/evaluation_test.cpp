#include "sdm/face/data/evaluation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>

#include "tests/io/expect_error.h"

namespace sdm::face {
namespace {

using io::expect_error;
using testing::DoubleNear;
using testing::Pointwise;

// Random faces with the outer eye corners 100 px apart.
Annotations faces(int count, int points = 68) {
  Annotations truth;
  truth.ids = ibug(points).ids;
  for (int i = 0; i < count; ++i) {
    std::srand(unsigned(i + 1));
    Shape shape = 100 * Shape::Random(2, points);
    for (int k = 0; k < points; ++k) {
      if (truth.ids[std::size_t(k)] == 36) shape.col(k) << 0, 0;
      if (truth.ids[std::size_t(k)] == 45) shape.col(k) << 60, 80;
    }
    truth.faces.push_back({"face" + std::to_string(i) + ".jpg", shape, {}});
  }
  return truth;
}

TEST(Evaluation, AShiftOfAllPointsIsItsLengthOverTheNormaliser) {
  const Annotations truth = faces(4);
  Annotations moved = truth;
  const double shift[] = {3, 4, 7, 10};
  for (int i = 0; i < 4; ++i) moved.faces[std::size_t(i)].points.row(0).array() += float(shift[i]);
  const Evaluation result = evaluate(truth, moved);
  EXPECT_THAT(result.errors, Pointwise(DoubleNear(1e-6), {0.03, 0.04, 0.07, 0.1}));
  EXPECT_NEAR(result.mean, 0.06, 1e-6);
  EXPECT_NEAR(result.median, 0.055, 1e-6);
  EXPECT_EQ(result.failure_rate, 0.25);
  for (double error : result.point_errors) EXPECT_NEAR(error, 0.06, 1e-6);
  for (double error : result.region_errors) EXPECT_NEAR(error, 0.06, 1e-6);
}

TEST(Evaluation, PixelsAreRootMeanSquaresAndNotNormalised) {
  Annotations truth = faces(2);
  Annotations moved = truth;
  moved.faces[0].points.col(5) += Eigen::Vector2f(30, 40);  // sqrt(2500 / 68)
  moved.faces[1].points.row(0).array() += 12;
  const Evaluation result = evaluate(truth, moved, {.normaliser = Normaliser::pixels});
  EXPECT_THAT(result.errors, Pointwise(DoubleNear(1e-4), {std::sqrt(2500.0 / 68), 12.0}));
  EXPECT_NEAR(result.point_errors[5], std::sqrt((2500.0 + 144) / 2), 1e-4);
  EXPECT_EQ(result.threshold, 10);
  EXPECT_EQ(result.failure_rate, 0.5);
  EXPECT_TRUE(std::isnan(result.scaled_mean));
}

TEST(Evaluation, DistancesAreToldInTheUnitOfTheScales) {
  Annotations truth = faces(3);
  Annotations moved = truth;
  for (Annotation& face : moved.faces) face.points.row(1).array() += 10;
  truth.faces[0].scale = 0.5;
  truth.faces[2].scale = 0.1;
  const Evaluation result = evaluate(truth, moved);
  EXPECT_NEAR(result.scaled_mean, 3, 1e-5);  // 5 and 1; the second has no scale
  EXPECT_NEAR(result.scaled_median, 3, 1e-5);
  EXPECT_NEAR(result.scaled_point_errors[7], 3, 1e-5);
  EXPECT_NEAR(result.mean, 0.1, 1e-6);
}

TEST(Evaluation, OtherNamesOrNumbersOfPointsAreRefused) {
  Annotations truth = faces(1), other = truth;
  for (int& id : other.ids) ++id;
  expect_error([&] { evaluate(truth, other); }, "the prediction has no point 0");
  Annotations three = faces(1, 49);
  three.ids = {0, 1, 2};
  three.faces[0].points = Shape::Random(2, 3);
  Annotations named = three;
  three.names = {"ear", "tail", "nose"};
  named.names = {"ear", "nose", "tail"};
  const EvaluationOptions options{.normaliser = Normaliser::box_diagonal};
  expect_error([&] { evaluate(three, named, options); },
               "point 1 is 'nose', expected 'tail' as in the truth");
  named.names.clear();
  EXPECT_EQ(evaluate(three, named, options).mean, 0);
}

TEST(Evaluation, TheAreaIsThatUnderTheCumulativeCurve) {
  const Annotations truth = faces(50);
  Annotations moved = truth;
  for (std::size_t i = 0; i < 50; ++i)
    moved.faces[i].points.row(1).array() += 0.3F * float((7 * i) % 50);
  const Evaluation result = evaluate(truth, moved);
  // The midpoint rule over the curve, step by step.
  std::vector<double> thresholds;
  const int steps = 20000;
  for (int i = 0; i < steps; ++i) thresholds.push_back(0.08 * (i + 0.5) / steps);
  double area = 0;
  for (double share : cumulative(result.errors, thresholds)) area += share / steps;
  EXPECT_NEAR(result.auc, area, 1e-4);
  EXPECT_NEAR(result.failure_rate, 1 - cumulative(result.errors, {0.08})[0], 1e-12);
}

TEST(Evaluation, NormalisersMeasureWhatTheirNamesSay) {
  Shape shape = Shape::Zero(2, 68);
  shape.row(0).segment(36, 6).setConstant(-30);
  shape.row(0).segment(42, 6).setConstant(30);
  shape(0, 36) = -60;
  shape(0, 45) = 60;
  shape(1, 8) = 50;
  const std::vector<int> ids = ibug(68).ids;
  EXPECT_NEAR(normalising_length(shape, ids, Normaliser::outer_eyes), 120, 1e-5);
  EXPECT_NEAR(normalising_length(shape, ids, Normaliser::eye_centres), 70, 1e-5);
  EXPECT_NEAR(normalising_length(shape, ids, Normaliser::box_diagonal), 130, 1e-5);
  for (auto n : {Normaliser::outer_eyes, Normaliser::eye_centres, Normaliser::box_diagonal})
    EXPECT_EQ(normaliser_from(name_of(n)), n);
  expect_error([] { normaliser_from("pupils"); }, "'pupils', expected outer_eyes");
  expect_error(
      [] {
        normalising_length(Shape::Zero(2, 2), {36, 45}, Normaliser::outer_eyes);
      },
      "outer_eyes is zero");
  expect_error(
      [] {
        normalising_length(Shape::Zero(2, 2), {0, 1}, Normaliser::outer_eyes);
      },
      "point 36 is not known, which this normaliser needs; box_diagonal does for any markup");
}

TEST(Evaluation, PointsAndRegionsShowWhereTheErrorIs) {
  const Annotations truth = faces(3);
  Annotations moved = truth;
  for (Annotation& face : moved.faces) face.points.row(0).segment(0, 17).array() += 10;
  const Evaluation result = evaluate(truth, moved);
  EXPECT_NEAR(result.point_errors[5], 0.1, 1e-6);
  EXPECT_EQ(result.point_errors[40], 0);
  EXPECT_EQ(result.markup.regions[0].name, "jaw");
  EXPECT_NEAR(result.region_errors[0], 0.1, 1e-6);
  EXPECT_EQ(result.region_errors[1], 0);
  EXPECT_NEAR(result.mean, 0.1 * 17 / 68, 1e-6);
  // Without the jaw nothing is wrong.
  EXPECT_EQ(evaluate(truth, moved, {.ids = ibug(51).ids}).mean, 0);
}

TEST(Evaluation, FewerPredictedPointsAreComparedWithTheSamePointsOfTheTruth) {
  const Annotations truth = faces(3);
  Annotations inner;
  inner.ids = ibug(49).ids;
  for (const Annotation& face : truth.faces)
    inner.faces.push_back({face.file, select(face.points, truth.ids, inner.ids), {}});
  const Evaluation result = evaluate(truth, inner);
  EXPECT_EQ(result.markup.size(), 49);
  EXPECT_EQ(result.mean, 0);
  expect_error([&] { evaluate(truth, inner, {.ids = ibug(68).ids}); }, "point 0 is not in both");
}

TEST(Evaluation, AMissingPredictionIsAFailureAndHasNoPartInTheMean) {
  const Annotations truth = faces(4);
  Annotations some = truth;
  some.faces[1].points.resize(2, 0);
  some.faces[2].points(0, 3) = std::nanf("");
  const Evaluation result = evaluate(truth, some);
  EXPECT_EQ(result.missing, 2);
  EXPECT_EQ(result.mean, 0);
  EXPECT_EQ(result.failure_rate, 0.5);
  EXPECT_EQ(result.auc, 0.5);
  EXPECT_TRUE(std::isinf(result.errors[1]));
  for (Annotation& face : some.faces) face.points.resize(2, 0);
  expect_error([&] { evaluate(truth, some); }, "no prediction for any of the true faces");
}

TEST(Evaluation, PointsWithoutTruthDoNotCount) {
  Annotations truth = faces(1);
  Annotations moved = truth;
  moved.faces[0].points.row(0).segment(0, 17).array() += 50;
  truth.faces[0].points.leftCols(17).setConstant(std::nanf(""));
  const Evaluation result = evaluate(truth, moved);
  EXPECT_EQ(result.mean, 0);
  EXPECT_TRUE(std::isnan(result.point_errors[0]));
}

TEST(Evaluation, AnyMarkupIsMeasuredByItsBox) {
  Annotations truth;
  truth.ids = {0, 1};
  Shape shape(2, 2);
  shape << 0, 30, 0, 40;
  truth.faces = {{"hand.jpg", shape, {}}};
  Annotations moved = truth;
  moved.faces[0].points(0, 0) += 10;
  const Evaluation result = evaluate(truth, moved, {.normaliser = Normaliser::box_diagonal});
  EXPECT_NEAR(result.mean, 0.1, 1e-6);
  EXPECT_TRUE(result.markup.regions.empty());
  expect_error([&] { evaluate(truth, moved); }, "hand.jpg: point 36");
}

TEST(Evaluation, PredictionsAreMatchedByFileAndPlace) {
  Annotations truth = faces(3);
  truth.faces[1].file = truth.faces[0].file = "d/two.jpg";
  truth.faces[1].points.array() += 500;
  Annotations predictions = truth;
  std::swap(predictions.faces[0], predictions.faces[1]);
  predictions.faces[2].file = "elsewhere/face2.pts";
  EXPECT_EQ(evaluate(truth, match(truth, predictions)).mean, 0);
  predictions.faces.erase(predictions.faces.begin());
  const Annotations matched = match(truth, predictions);
  EXPECT_EQ(matched.faces[0].points.cols(), 68);
  EXPECT_EQ(matched.faces[1].points.cols(), 0);
  expect_error([&] { evaluate(truth, predictions); }, "2 predictions for 3");
}

TEST(Evaluation, AFaceThatWasNotFoundDoesNotTakeItsNeighboursPrediction) {
  Annotations truth = faces(2);
  for (Annotation& face : truth.faces) face.file = "two.jpg";
  truth.faces[1].points = truth.faces[0].points.array() + 300;
  for (const bool mirrored : {false, true}) {
    if (mirrored) std::swap(truth.faces[0], truth.faces[1]);
    for (const std::size_t found : {0u, 1u}) {
      Annotations predictions = truth;
      predictions.faces = {truth.faces[found]};
      predictions.faces[0].points.array() += 5;
      const Annotations matched = match(truth, predictions);
      EXPECT_EQ(matched.faces[found].points, predictions.faces[0].points);
      EXPECT_EQ(matched.faces[1 - found].points.cols(), 0);
    }
  }
}

TEST(Evaluation, APredictionGoesToItsOwnFileBeforeOthersOfThatName) {
  Annotations truth = faces(2);
  truth.faces[0].file = "a/one.jpg";
  truth.faces[1].file = "b/one.jpg";
  Annotations predictions = truth;
  predictions.faces = {truth.faces[1]};
  predictions.faces[0].points = truth.faces[0].points;  // nearer to the other one
  const Annotations matched = match(truth, predictions);
  EXPECT_EQ(matched.faces[0].points.cols(), 0);
  EXPECT_EQ(matched.faces[1].points.cols(), 68);
}

TEST(Evaluation, SixtyEightOtherPointsAreNotTakenForThoseOfAFace) {
  Annotations truth = faces(1);
  for (int& id : truth.ids) ++id;
  const EvaluationOptions options{.normaliser = Normaliser::box_diagonal};
  const Evaluation result = evaluate(truth, truth, options);
  EXPECT_EQ(result.mean, 0);
  EXPECT_EQ(result.markup.names.back(), "68");
  EXPECT_TRUE(result.markup.regions.empty());
}

// Published: the method's authors' own software on these images.
TEST(Evaluation, TheAuthorsSoftwareHasItsPublishedError) {
  const std::filesystem::path folder = std::filesystem::path(SDM_SHARED_DATA) / "faces";
  if (!std::filesystem::exists(folder)) {
    std::puts("skipped: needs ../shared/data");
    GTEST_SKIP();
  }
  const Annotations truth = read_annotations(folder / "lfpw_test.csv");
  const Annotations stored = read_annotations(folder / "lfpw_test_intraface49.csv");
  const Evaluation result = evaluate(truth, match(truth, stored));
  EXPECT_EQ(result.markup.ids, ibug(49).ids);
  EXPECT_EQ(result.errors.size(), 224u);
  EXPECT_NEAR(result.mean, 0.0521, 0.00005);
  EXPECT_NEAR(result.median, 0.0326, 0.00005);
  EXPECT_NEAR(result.failure_rate, 0.080, 0.0005);
}

}  // namespace
}  // namespace sdm::face
