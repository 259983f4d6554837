#include <gtest/gtest.h>

#include <cmath>

#include "descent/train/stage_regression.h"
#include "sdm/base/random.h"
#include "sdm/base/thread_pool.h"
#include "tests/descent/problems.h"
#include "tests/descent/train/naive.h"

namespace sdm {
namespace {

TrainOptions standardised(Penalty penalty, int folds) {
  TrainOptions options;
  options.stages = 1;
  options.standardise = true;
  options.penalty = std::move(penalty);
  options.folds = folds;
  return options;
}

// Samples of a regression by themselves: features, deltas, weights.
struct Samples {
  Matrix<double> f, d;
  Vector<double> w;
  bool bias;

  Samples(Index features, Index samples, bool with_bias)
      : f(random_matrix<double>(features, samples, 1)),
        d(random_matrix<double>(3, features, 2) * f + 0.3 * random_matrix<double>(3, samples, 3)),
        w(random_vector<double>(samples, 4).cwiseAbs()),
        bias(with_bias) {
    f = random_matrix<double>(features, features, 5) * f;  // correlated
    if (bias) f.colwise() += random_vector<double>(features, 6);
  }

  // As `train` uses the regression: construct, add the chunks of every fold, solve.
  detail::StageMaps<double> solve(const TrainOptions& options,
                                  const Symmetry& symmetry = {}) const {
    ThreadPool pool(1);
    const Vector<double> shift = bias ? Vector<double>(f.col(0)) : Vector<double>();
    detail::StageRegression<double> regression(symmetry, f.rows(), d.rows(), f.cols(), bias, shift,
                                               options, options.folds);
    for (int fold = 0; fold < options.folds; ++fold) {
      const std::vector<Index> own = members(fold, options.folds);
      Matrix<double> features = naive::columns(f, own), deltas = naive::columns(d, own);
      regression.add(fold, features, deltas, naive::entries(w, own), pool);
    }
    Random random(1, "test", 0);
    return regression.solve(random, pool);
  }
  std::vector<Index> members(int fold, int folds) const {
    std::vector<Index> own;
    for (Index i = fold; i < f.cols(); i += folds) own.push_back(i);
    return own;
  }
};

Matrix<double> predictions(const DescentMap<double>& map, const Matrix<double>& f) {
  return (-map.matrix() * f).colwise() + map.bias();
}

TEST(Standardise, IsRidgeOnFeaturesDividedByTheirDeviations) {
  for (const bool bias : {true, false}) {
    for (const Index samples : {12, 80}) {  // fewer than features: the dual form
      const Samples s(20, samples, bias);
      const Vector<double> units = naive::deviations(s.f, s.w, bias);
      const Matrix<double> g = units.cwiseInverse().asDiagonal() * s.f;
      const naive::Map expected =
          naive::ridge(g, s.d, s.w, 0.02 * naive::trace_share(g, s.w, bias), bias);
      const auto map = s.solve(standardised(Penalty::relative(0.02), 1)).full;
      EXPECT_LT(relative_gap(map.matrix(), expected.r * units.cwiseInverse().asDiagonal()), 1e-9);
      EXPECT_LT((map.bias() - expected.b).norm(), 1e-9 * (1 + expected.b.norm()));
    }
  }
}

// Predictions of all maps, in the unit of the first samples, when one unit changes.
void expect_no_units(Index samples, bool bias, const TrainOptions& options) {
  const Samples plain(8, samples, bias);
  const auto maps = plain.solve(options);
  for (const double factor : {1e-6, 1e6}) {
    for (Index which = 0; which < 8 + 3; ++which) {
      Samples other = plain;
      if (which < 8)
        other.f.row(which) *= factor;
      else
        other.d.row(which - 8) *= factor;
      const auto changed = other.solve(options);
      const auto expect_same = [&](const DescentMap<double>& a, const DescentMap<double>& b) {
        Matrix<double> got = predictions(b, other.f), expected = predictions(a, plain.f);
        if (which >= 8) got.row(which - 8) /= factor;
        for (Index j = 0; j < 3; ++j)
          EXPECT_LT(relative_gap(got.row(j), expected.row(j)), 1e-9)
              << "unit " << which << " times " << factor << ", " << samples << " samples";
      };
      expect_same(maps.full, changed.full);
      ASSERT_EQ(maps.without_fold.size(), changed.without_fold.size());
      for (std::size_t k = 0; k < maps.without_fold.size(); ++k)
        expect_same(maps.without_fold[k], changed.without_fold[k]);
      EXPECT_EQ(maps.penalty_factors, changed.penalty_factors);
    }
  }
}

TEST(Standardise, GivesTheSamePredictionsWhateverTheUnitsOfFeaturesAndDeltas) {
  for (const bool bias : {true, false}) {
    for (const Index samples : {6, 300}) {
      expect_no_units(samples, bias, standardised(Penalty::relative(1e-6), 1));
      expect_no_units(samples, bias, standardised(Penalty::held_out(), 3));
      TrainOptions reduced = standardised(Penalty::held_out(), 3);
      reduced.rank = 2;
      expect_no_units(samples, bias, reduced);
      reduced.pca_energy = 0.95;
      expect_no_units(samples, bias, reduced);
    }
  }
}

TEST(Standardise, LeavesOutAFeatureThatNeverVaries) {
  for (const double value : {0.0, 1.0 / 3, -1e9}) {
    for (const Index samples : {6, 200}) {
      const Samples without(8, samples, true);
      Samples with = without;
      with.f.conservativeResize(9, samples);
      with.f.row(8).setConstant(value);
      const TrainOptions options = standardised(Penalty::given(0.5), 1);
      const DescentMap<double> a = without.solve(options).full, b = with.solve(options).full;
      EXPECT_EQ(b.matrix().col(8).norm(), 0);
      EXPECT_LT(relative_gap(predictions(b, with.f), predictions(a, without.f)), 1e-10);
    }
  }
}

TEST(Standardise, CountsMirrorImagesAsExplicitOnesWouldCount) {
  Samples declared(6, 60, true);
  declared.d.conservativeResize(2, 60);
  Symmetry symmetry;
  symmetry.features = {{1, 0, 3, 2, 4, 5}, {1, 1, 1, 1, 1, -1}};
  symmetry.deltas = {{0, 1}, {1, -1}};
  Samples doubled = declared;
  doubled.f.conservativeResize(6, 120);
  doubled.d.conservativeResize(2, 120);
  doubled.w.conservativeResize(120);
  doubled.w.tail(60) = declared.w;
  for (Index i = 0; i < 60; ++i) {
    for (Index k = 0; k < 6; ++k)
      doubled.f(k, 60 + i) = symmetry.features.sign[static_cast<std::size_t>(k)] *
                             declared.f(symmetry.features.partner[static_cast<std::size_t>(k)], i);
    doubled.d.col(60 + i) << declared.d(0, i), -declared.d(1, i);
  }
  for (const TrainOptions& options :
       {standardised(Penalty::relative(0.1), 1), standardised(Penalty::held_out(), 3)}) {
    const auto a = declared.solve(options, symmetry), b = doubled.solve(options);
    EXPECT_LT(relative_gap(a.full.matrix(), b.full.matrix()), 1e-9);
    EXPECT_LT((a.full.bias() - b.full.bias()).norm(), 1e-9);
    EXPECT_EQ(a.penalty_factors, b.penalty_factors);
  }
}

TEST(Standardise, IsAnOptionOfTraining) {
  // The second feature in another unit: the trained maps say the same.
  const TanhProblem<double> problem(3, 9, 200, false, 21);
  const auto h = [&](ConstVectorRef<double> x, VectorRef<double> out) {
    out = problem.h(x);
    out[1] *= 1e6;
  };
  TrainOptions options = standardised(Penalty::held_out(), 4);
  options.stages = 3;
  const auto a = problem.train(options);
  const auto b =
      train(function_problem<double>(h, 3, 9, 200), problem.starts, problem.targets, options);
  const double error = a.summary.stages[2].error_after;
  EXPECT_NEAR(b.summary.stages[2].error_after, error, 1e-9 * error);
  for (std::size_t k = 0; k < 3; ++k) {
    Matrix<double> r = b.cascade.maps[k].matrix();
    r.col(1) *= 1e6;
    EXPECT_LT(relative_gap(r, a.cascade.maps[k].matrix()), 1e-7);
  }
}

TEST(Standardise, HoldsTheInverseCovarianceBackByTheSamePenalty) {
  // Sigma = sum w phi phi^T + lambda diag(deviation^2): the ridge solution of the stage.
  const TanhProblem<double> problem(3, 6, 80, false, 35);
  TrainOptions options = standardised(Penalty::given(0.4), 1);
  options.keep_inverse_covariance = true;
  const auto result = problem.train(options);
  Matrix<double> f(6, 80);
  for (Index i = 0; i < 80; ++i) problem.features(i, 0, problem.starts.col(i), f.col(i));
  Matrix<double> phi = Matrix<double>::Ones(7, 80);
  phi.topRows(6) = f;
  Matrix<double> sigma = phi * phi.transpose();
  sigma.diagonal().head(6) +=
      0.4 * naive::deviations(f, Vector<double>::Ones(80), true).cwiseAbs2();
  EXPECT_LT((result.inverse_covariances[0].plain() * sigma - Matrix<double>::Identity(7, 7)).norm(),
            1e-9);
}

}  // namespace
}  // namespace sdm
