#include "sdm/linear/normal_equations.h"

#include <gtest/gtest.h>

#include <Eigen/QR>

#include "tests/linear/samples.h"

namespace sdm::linear {
namespace {

template <class Scalar>
void expect_sums_of(const NormalEquations<Scalar>& e, const Samples& s, double tolerance) {
  const auto w = s.weights.asDiagonal();
  const Matrix<double> ft = s.features.transpose(), tt = s.targets.transpose();
  EXPECT_LT(relative_gap(e.gram.dense(), s.features * w * ft), tolerance);
  EXPECT_LT(relative_gap(e.cross, s.features * w * tt), tolerance);
  EXPECT_LT(relative_gap(e.feature_sum, s.features * s.weights), tolerance);
  EXPECT_LT(relative_gap(e.target_sum, s.targets * s.weights), tolerance);
  EXPECT_LT(relative_gap(e.target_gram, s.targets * w * tt), tolerance);
  EXPECT_NEAR(e.weight_sum, s.weights.sum(), tolerance * s.weights.sum());
}

TEST(NormalEquations, AreTheWeightedSumsOfTheSamples) {
  ThreadPool pool(2);
  const Samples samples(600, 4, 50, 1);
  expect_sums_of(samples.equations<double>(pool), samples, 1e-13);
  expect_sums_of(samples.equations<float>(pool), samples, 1e-5);
}

TEST(NormalEquations, AddUp) {
  ThreadPool pool(2);
  const Samples a(9, 2, 30, 1), b(9, 2, 20, 7);
  Samples both = a;
  both.features.conservativeResize(9, 50);
  both.targets.conservativeResize(2, 50);
  both.weights.conservativeResize(50);
  both.features.rightCols(20) = b.features;
  both.targets.rightCols(20) = b.targets;
  both.weights.tail(20) = b.weights;
  auto sum = a.equations<double>(pool);
  sum += b.equations<double>(pool);
  expect_sums_of(sum, both, 1e-13);
}

TEST(NormalEquations, ProjectToTheEquationsOfProjectedFeatures) {
  ThreadPool pool(2);
  Samples samples(40, 3, 60, 3);
  const Matrix<double> p =
      Eigen::HouseholderQR<Matrix<double>>(random_matrix<double>(40, 6, 9)).householderQ() *
      Matrix<double>::Identity(40, 6);
  const auto projected = samples.equations<double>(pool).project(p, pool);
  samples.features = p.transpose() * samples.features.eval();
  expect_sums_of(projected, samples, 1e-12);
}

TEST(NormalEquations, MeasureTheEnergyOfTheFeatures) {
  ThreadPool pool(2);
  const Samples s(12, 2, 40, 3);
  const auto equations = s.equations<double>(pool);
  const Vector<double> mean = s.features * s.weights / s.weights.sum();
  double plain = 0, centred = 0;
  for (Index i = 0; i < s.size(); ++i) {
    plain += s.weights[i] * s.features.col(i).squaredNorm();
    centred += s.weights[i] * (s.features.col(i) - mean).squaredNorm();
  }
  EXPECT_NEAR(equations.energy(false), plain, 1e-10 * plain);
  EXPECT_NEAR(equations.energy(true), centred, 1e-10 * plain);
}

TEST(NormalEquations, TakeChunksOfAnyWidthAndSlicesOfLargerMatrices) {
  ThreadPool pool(2);
  const Samples s(5, 2, 11, 5);
  const Vector<double> roots = s.weights.cwiseSqrt();
  Matrix<double> stacked(9, 11);  // the features are rows 3..7 of it
  stacked.setConstant(1e30);
  stacked.middleRows(3, 5) = s.features * roots.asDiagonal();
  const Matrix<double> targets = s.targets * roots.asDiagonal();
  NormalEquations<double> equations(5, 2);
  for (const auto& [first, count] : {std::pair{0, 1}, {1, 0}, {1, 7}, {8, 3}})
    equations.add(stacked.block(3, first, 5, count), targets.middleCols(first, count),
                  roots.segment(first, count), pool);
  expect_sums_of(equations, s, 1e-13);
}

TEST(NormalEquations, MayHaveNoFeaturesOrNoTargets) {
  ThreadPool pool(2);
  const Samples s(4, 3, 10, 5);
  NormalEquations<double> no_features(0, 3), no_targets(4, 0);
  no_features.add(Matrix<double>(0, 10), s.targets, Vector<double>::Ones(10), pool);
  no_targets.add(s.features, Matrix<double>(0, 10), Vector<double>::Ones(10), pool);
  EXPECT_LT(relative_gap(no_features.target_sum, s.targets.rowwise().sum()), 1e-14);
  EXPECT_LT(relative_gap(no_targets.feature_sum, s.features.rowwise().sum()), 1e-14);
}

}  // namespace
}  // namespace sdm::linear
