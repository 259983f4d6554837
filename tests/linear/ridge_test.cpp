#include "sdm/linear/ridge.h"

#include <Eigen/LU>
#include <limits>

#include "tests/io/expect_error.h"
#include "tests/linear/samples.h"

namespace sdm::linear {
namespace {

using io::expect_error;

Vector<double> bias_of(const LinearPredictor<double>& p) {
  return p.target_mean - p.weights.transpose() * p.feature_mean;
}

TEST(Ridge, EqualsAugmentedLeastSquaresByQr) {
  ThreadPool pool(2);
  for (const Index features : {1, 5, 530}) {
    const Samples samples(features, 3, features + 40, 11);
    for (const double lambda : {0.01, 30.0}) {
      const auto plain = ridge(samples.equations<double>(pool), lambda, false, pool);
      EXPECT_LT(relative_gap(plain.weights, samples.ridge_by_qr(lambda, false)), 1e-8);
      EXPECT_EQ(bias_of(plain).norm(), 0);
      const auto centred = ridge(samples.equations<double>(pool), lambda, true, pool);
      const Matrix<double> expected = samples.ridge_by_qr(lambda, true);
      EXPECT_LT(relative_gap(centred.weights, expected.topRows(features)), 1e-8);
      EXPECT_LT(relative_gap(bias_of(centred), expected.bottomRows(1).transpose()), 1e-8);
    }
  }
}

TEST(Ridge, AgreesInFloat) {
  ThreadPool pool(2);
  const Samples samples(20, 3, 200, 2);
  const auto got = ridge(samples.equations<float>(pool), 1.0, true, pool);
  EXPECT_LT(relative_gap(got.weights, samples.ridge_by_qr(1.0, true).topRows(20)), 1e-3);
}

TEST(Ridge, DoesNotPenaliseTheBias) {
  ThreadPool pool(2);
  const Samples samples(6, 2, 80, 4);
  Samples moved = samples;
  const Vector<double> f0 = random_vector<double>(6, 20) * 5, t0 = random_vector<double>(2, 21) * 9;
  moved.features.colwise() += f0;
  moved.targets.colwise() += t0;
  const auto a = ridge(samples.equations<double>(pool), 25.0, true, pool);
  const auto b = ridge(moved.equations<double>(pool), 25.0, true, pool);
  EXPECT_LT(relative_gap(b.weights, a.weights), 1e-10);
  EXPECT_LT(relative_gap(bias_of(b), bias_of(a) + t0 - a.weights.transpose() * f0), 1e-10);
}

TEST(Ridge, TreatsAWeightAsThatManyCopies) {
  ThreadPool pool(2);
  Samples weighted(4, 2, 10, 4), copied = weighted;
  weighted.weights.setOnes();
  weighted.weights[3] = 3;
  copied.features.conservativeResize(4, 12);
  copied.targets.conservativeResize(2, 12);
  copied.weights = Vector<double>::Ones(12);
  for (const Index c : {10, 11}) {
    copied.features.col(c) = weighted.features.col(3);
    copied.targets.col(c) = weighted.targets.col(3);
  }
  const auto a = ridge(weighted.equations<double>(pool), 0.5, true, pool);
  const auto b = ridge(copied.equations<double>(pool), 0.5, true, pool);
  EXPECT_LT(relative_gap(a.weights, b.weights), 1e-12);
  EXPECT_LT(relative_gap(bias_of(a), bias_of(b)), 1e-12);
}

TEST(Ridge, SaysWhichFeatureMakesTheSystemSingular) {
  ThreadPool pool(2);
  Samples samples(5, 2, 40, 6);
  samples.features.row(3).setConstant(0.1);
  expect_error([&] { ridge(samples.equations<double>(pool), 0.0, true, pool); },
               "singular at feature 3: it never varies, and there is no penalty");
  expect_error([&] { ridge(samples.equations<float>(pool), 0.0, true, pool); },
               "singular at feature 3: it never varies, and there is no penalty");
  EXPECT_NO_THROW(ridge(samples.equations<double>(pool), 0.0, false, pool));
  EXPECT_NO_THROW(ridge(samples.equations<double>(pool), 0.1, true, pool));
}

TEST(Ridge, FindsFeaturesThatOthersDetermineInSpiteOfRounding) {
  ThreadPool pool(2);
  for (unsigned seed = 0; seed < 20; ++seed) {
    Samples samples(30, 2, 90, 100 + seed);
    samples.features.row(29) = random_matrix<double>(1, 29, seed) * samples.features.topRows(29);
    expect_error([&] { ridge(samples.equations<double>(pool), 0.0, false, pool); },
                 "singular at feature 29: other features determine it");
    expect_error([&] { ridge(samples.equations<float>(pool), 0.0, true, pool); },
                 "singular at feature 29: other features determine it");
  }
}

TEST(Ridge, SolvesBadlyScaledFeaturesWithoutAPenalty) {
  ThreadPool pool(2);
  Samples samples(4, 2, 50, 8);
  samples.features.row(1) *= 1e-9;
  samples.features.row(2) *= 1e9;
  const auto got = ridge(samples.equations<double>(pool), 0.0, false, pool);
  EXPECT_LT(relative_gap(got.weights, samples.ridge_by_qr(0.0, false)), 1e-9);
}

TEST(Ridge, SaysThatASumIsNotFinite) {
  ThreadPool pool(2);
  Samples samples(5, 2, 40, 6);
  auto equations = samples.equations<float>(pool);
  equations.gram.add_outer(std::numeric_limits<float>::infinity(), Vector<float>::Unit(5, 2));
  expect_error([&] { ridge(equations, 1.0, true, pool); }, "infinite or NaN");
}

TEST(Ridge, NeedsAPositiveSumOfWeights) {
  ThreadPool pool(1);
  expect_error([&] { ridge(NormalEquations<double>(3, 2), 1.0, true, pool); }, "weights sum to 0");
}

TEST(ResidualGram, EqualsTheResidualsOfOtherSamples) {
  ThreadPool pool(2);
  const Samples seen(20, 3, 60, 1), other(20, 3, 33, 50);
  for (const bool centred : {false, true}) {
    const auto predictor = ridge(seen.equations<double>(pool), 2.0, centred, pool);
    const Matrix<double> residuals =
        (other.targets - predictor.weights.transpose() * other.features).colwise() -
        bias_of(predictor);
    const Matrix<double> expected = residuals * other.weights.asDiagonal() * residuals.transpose();
    EXPECT_LT(relative_gap(residual_gram(other.equations<double>(pool), predictor, pool), expected),
              1e-11);
  }
}

// sum w |t - t_hat|^2 + lambda |weights|^2, from the samples.
double penalised_loss(const Samples& s, const LinearPredictor<double>& p, double lambda) {
  const Matrix<double> residuals =
      (s.targets - p.weights.transpose() * s.features).colwise() - bias_of(p);
  return (residuals * s.weights.asDiagonal() * residuals.transpose()).trace() +
         lambda * p.weights.squaredNorm();
}

TEST(TargetDirections, GiveTheBestPredictorOfReducedRank) {
  ThreadPool pool(2);
  const Samples samples(8, 5, 60, 13);
  const double lambda = 4;
  for (const bool centred : {false, true}) {
    const auto equations = samples.equations<double>(pool);
    const auto full = ridge(equations, lambda, centred, pool);
    const auto found = target_directions(equations, full, centred);
    EXPECT_LT(
        (found.directions.transpose() * found.directions - Matrix<double>::Identity(5, 5)).norm(),
        1e-12);
    const double full_loss = penalised_loss(samples, full, lambda);
    double dropped = 0;
    for (Index rank = 5; rank >= 1; --rank) {
      const Matrix<double> u = found.directions.leftCols(rank);
      auto reduced = full;
      reduced.weights = full.weights * u * u.transpose();
      const double loss = penalised_loss(samples, reduced, lambda);
      // What a direction explains is what leaving it out costs.
      EXPECT_NEAR(loss, full_loss + dropped, 1e-9 * full_loss);
      dropped += found.gain[rank - 1];
      if (rank == 5) {
        EXPECT_LT(relative_gap(reduced.weights, full.weights), 1e-12);
      }

      // No other map of this rank does better: random ones near it (A, B perturbed), and the best A
      // for random B.
      for (unsigned seed = 0; seed < 200; ++seed) {
        const double size = std::pow(10.0, -static_cast<double>(seed % 5));
        const Matrix<double> b = u + size * random_matrix<double>(5, rank, 500 + seed);
        auto rival = full;
        rival.weights =
            (full.weights * u + size * random_matrix<double>(8, rank, 900 + seed)) * b.transpose();
        EXPECT_GE(penalised_loss(samples, rival, lambda), loss * (1 - 1e-12));
        const Matrix<double> q =
            b * (b.transpose() * b).inverse() * b.transpose();  // projection to the span of b
        rival.weights = full.weights * q;
        EXPECT_GE(penalised_loss(samples, rival, lambda), loss * (1 - 1e-12));
      }
    }
  }
}

TEST(TargetDirections, MayBeNone) {
  ThreadPool pool(1);
  NormalEquations<double> equations(3, 0);
  equations.add(random_matrix<double>(3, 9, 1), Matrix<double>(0, 9), Vector<double>::Ones(9),
                pool);
  const auto predictor = ridge(equations, 1.0, false, pool);
  EXPECT_EQ(target_directions(equations, predictor, false).gain.size(), 0);
}

}  // namespace
}  // namespace sdm::linear
