#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "sdm/descent/train/train.h"
#include "tests/descent/problems.h"
#include "tests/descent/train/naive.h"

namespace sdm {
namespace {

// As many groups as folds, of uneven size: whatever the seed draws, a group is a fold.
template <class Scalar>
TanhProblem<Scalar> grouped(Index features, Index samples, bool known, int groups) {
  TanhProblem<Scalar> problem(4, features, samples, known, 60);
  for (Index i = 0; i < samples; ++i)
    problem.groups.push_back(std::min<Index>((i * i) % 11, groups - 1));
  for (Index i = 0; i < samples; ++i)
    problem.weights.push_back(1 + 0.5 * static_cast<double>(i % 2));
  return problem;
}

void expect_naive_cross_fit(const TanhProblem<double>& problem, const TrainOptions& options) {
  const auto result = problem.train(options);
  const Index n = problem.samples();
  std::vector<int> fold(problem.groups.begin(), problem.groups.end());
  const Vector<double> w = Eigen::Map<const Vector<double>>(problem.weights.data(), n);
  Matrix<double> states = problem.starts;
  for (int stage = 0; stage < options.stages; ++stage) {
    SCOPED_TRACE(stage);
    Matrix<double> f(problem.feature_size(0), n);
    for (Index i = 0; i < n; ++i) problem.features(i, stage, states.col(i), f.col(i));
    const naive::Stage expected = naive::cross_fit(f, problem.targets - states, w, fold,
                                                   options.penalty.values, !problem.known);
    const auto& map = result.cascade.maps[static_cast<std::size_t>(stage)];
    const auto& summary = result.summary.stages[static_cast<std::size_t>(stage)];
    const double largest = expected.factor.maxCoeff();
    EXPECT_NEAR(summary.penalty_factor, largest, 1e-9 * largest);
    if (options.penalty.kind == Penalty::Kind::kHeldOut)
      EXPECT_EQ(summary.penalty_factors,
                std::vector<double>(expected.factor.begin(), expected.factor.end()));
    else
      EXPECT_TRUE(summary.penalty_factors.empty());
    EXPECT_LT(relative_gap(map.matrix(), expected.full.r), 1e-6);
    EXPECT_LT((map.bias() - expected.full.b).norm(), 1e-6);
    states += options.cross_fit ? expected.deltas : expected.full.apply(f);
    EXPECT_NEAR(summary.error_after, (problem.targets - states).colwise().norm().mean(), 1e-7);
  }
}

TEST(CrossFitting, EqualsExplicitLoopsOverTheFolds) {
  for (const bool known : {true, false}) {
    TrainOptions options;
    options.stages = 3;
    options.folds = 3;
    options.penalty = Penalty::relative(0.01);
    expect_naive_cross_fit(grouped<double>(12, 150, known, 3), options);
    options.cross_fit = false;
    expect_naive_cross_fit(grouped<double>(12, 150, known, 3), options);
  }
}

TEST(CrossFitting, EqualsExplicitLoopsInTheDualForm) {
  for (const bool known : {true, false}) {
    TrainOptions options;
    options.stages = 2;
    options.folds = 3;
    options.penalty = Penalty::relative(0.05);
    expect_naive_cross_fit(grouped<double>(60, 40, known, 3), options);
  }
}

TEST(CrossFitting, ChoosesThePenaltyOfEachOutputThatBruteForceChooses) {
  for (const bool known : {true, false}) {
    for (const Index samples : {25, 60, 300}) {
      TrainOptions options;
      options.stages = 2;
      options.folds = 4;
      options.penalty = Penalty::held_out({1e-4, 1e-2, 0.3, 1, 3, 10, 100});
      expect_naive_cross_fit(grouped<double>(20, samples, known, 4), options);
    }
  }
}

// Two outputs that want opposite penalties: the first is a clean function of the features, the
// second is noise.
struct CleanAndNoise {
  Matrix<double> features = random_matrix<double>(30, 90, 72);
  Matrix<double> targets{2, 90};

  explicit CleanAndNoise(double unit) {
    targets.row(0) = random_matrix<double>(1, 30, 73) * features;
    targets.row(1) = unit * random_matrix<double>(1, 90, 74);
  }
  TrainResult<double> train(const TrainOptions& options) const {
    struct P {
      using Scalar = double;
      const Matrix<double>& f;
      Index samples() const { return f.cols(); }
      Index state_size() const { return 2; }
      Index feature_size(int) const { return f.rows(); }
      bool template_known() const { return true; }
      void features(Index i, int, ConstVectorRef<double>, VectorRef<double> out) const {
        out = f.col(i);
      }
    } const problem{features};
    return sdm::train(problem, Matrix<double>::Zero(2, 1), targets, options);
  }
};

TEST(CrossFitting, GivesEachOutputItsOwnPenaltyWhateverItsUnit) {
  TrainOptions options;
  options.stages = 1;
  options.folds = 3;
  options.penalty = Penalty::held_out({1e-6, 1e-3, 1, 1000});
  for (const double unit : {1e-6, 1.0, 1e6}) {
    const auto factors = CleanAndNoise(unit).train(options).summary.stages[0].penalty_factors;
    EXPECT_EQ(factors[0], 1e-6) << unit;
    EXPECT_GE(factors[1], 1) << unit;
  }
}

TEST(CrossFitting, ChoosesOneFactorForAllByRelativeErrorsWhereTheMapIsOfReducedRank) {
  TrainOptions options;
  options.stages = 1;
  options.folds = 3;
  options.rank = 1;
  options.penalty = Penalty::held_out({1e-6, 1e-3, 1, 1000});
  const auto chosen = [&](double unit) {
    return CleanAndNoise(unit).train(options).summary.stages[0].penalty_factors;
  };
  const std::vector<double> plain = chosen(1);
  EXPECT_EQ(plain[0], plain[1]);
  EXPECT_EQ(chosen(1e6), plain);
  EXPECT_EQ(chosen(1e-6), plain);
}

TEST(CrossFitting, SaysMoreHonestlyHowLargeTheErrorIsOnNewData) {
  // Features that carry nothing: training error falls, held-out error does not.
  const Matrix<double> noise = random_matrix<double>(40, 80, 70);
  struct Noise {
    using Scalar = double;
    const Matrix<double>& noise;
    Index samples() const { return 80; }
    Index state_size() const { return 2; }
    Index feature_size(int) const { return 40; }
    bool template_known() const { return true; }
    void features(Index i, int, ConstVectorRef<double>, VectorRef<double> out) const {
      out = noise.col(i);
    }
  } const problem{noise};
  const Matrix<double> starts = Matrix<double>::Zero(2, 1),
                       targets = random_matrix<double>(2, 80, 71);
  TrainOptions options;
  options.stages = 1;
  const auto naive = train(problem, starts, targets, options).summary.stages[0];
  options.folds = 4;
  const auto fair = train(problem, starts, targets, options).summary.stages[0];
  EXPECT_LT(naive.error_after, 0.9 * naive.error_before);
  EXPECT_GT(fair.error_after, fair.error_before);
}

TEST(CrossFitting, ChoosesTheRankThatBruteForceChooses) {
  for (const double tolerance : {0.001, 0.05, 0.3}) {
    const auto problem = grouped<double>(12, 120, false, 3);
    TrainOptions options;
    options.stages = 1;
    options.folds = 3;
    options.penalty = Penalty::given(0.5);
    options.rank = 4;
    options.rank_tolerance = tolerance;
    const auto result = problem.train(options);

    const Index n = problem.samples();
    Matrix<double> f(12, n);
    for (Index i = 0; i < n; ++i) problem.features(i, 0, problem.starts.col(i), f.col(i));
    const Matrix<double> d = problem.targets - problem.starts;
    const Vector<double> w = Eigen::Map<const Vector<double>>(problem.weights.data(), n);
    Vector<double> error = Vector<double>::Zero(4);
    for (int k = 0; k < 3; ++k) {
      std::vector<Index> in, out;
      for (Index i = 0; i < n; ++i)
        (problem.groups[static_cast<std::size_t>(i)] == k ? in : out).push_back(i);
      const Matrix<double> seen = naive::columns(f, out), moves = naive::columns(d, out);
      const Vector<double> weights = naive::entries(w, out);
      const naive::Map map = naive::ridge(seen, moves, weights, 0.5, true);
      const Vector<double> mean_f = seen * weights / weights.sum();
      const Vector<double> mean_d = moves * weights / weights.sum();
      Matrix<double> g =
          (seen.colwise() - mean_f) * weights.asDiagonal() * (seen.colwise() - mean_f).transpose();
      g.diagonal().array() += 0.5;
      const Eigen::SelfAdjointEigenSolver<Matrix<double>> eigen(map.r * g * map.r.transpose());
      for (Index rank = 1; rank <= 4; ++rank) {
        const Matrix<double> u = eigen.eigenvectors().rightCols(rank);
        for (const Index i : in)
          error[rank - 1] +=
              w[i] *
              (d.col(i) - mean_d + u * u.transpose() * map.r * (f.col(i) - mean_f)).squaredNorm();
      }
    }
    Index expected = 1;
    while (error[expected - 1] > error.minCoeff() * (1 + tolerance)) ++expected;
    EXPECT_EQ(result.cascade.maps[0].rank(), expected);
  }
}

TEST(CrossFitting, ChoosesARankEvenWhereTheFitIsExact) {
  // The held-out error is then rounding alone, of either sign.
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Matrix<double> a = random_matrix<double>(6, 3, seed);
    const auto h = [&](ConstVectorRef<double> x, VectorRef<double> out) { out = a * x; };
    const Matrix<double> targets = random_matrix<double>(3, 60, seed + 50);
    const auto problem = function_problem<double>(h, 3, 6, 60, a * targets);
    TrainOptions options;
    options.stages = 2;
    options.folds = 3;
    options.rank = 3;
    options.rank_tolerance = 0.01;
    options.penalty = Penalty::given(1e-10);
    const auto result = train(problem, random_matrix<double>(3, 60, seed + 90), targets, options);
    EXPECT_EQ(result.cascade.maps[0].rank(), 3);
    EXPECT_LT(result.summary.stages[1].error_after, 1e-8);
  }
}

TEST(CrossFitting, TakesGroupNumbersWithGaps) {
  TanhProblem<double> gaps = grouped<double>(8, 60, true, 3), dense = gaps;
  for (Index& group : gaps.groups) group = 17 + 40 * group;
  TrainOptions options;
  options.folds = 3;
  options.penalty = Penalty::held_out();
  for (options.seed = 1; options.seed < 8; ++options.seed) {
    const auto a = gaps.train(options), b = dense.train(options);
    EXPECT_TRUE(same_bits(a.cascade, b.cascade));
  }
}

template <class Scalar>
void expect_same_bits_for_any_threads(TrainOptions options) {
  TanhProblem<Scalar> problem(4, 40, 700, false, 80);
  for (Index i = 0; i < 700; ++i) problem.groups.push_back(i / 5);
  options.stages = 3;
  options.threads = 1;
  const auto one = problem.train(options);
  for (const int threads : {2, 5}) {
    options.threads = threads;
    EXPECT_TRUE(same_bits(one.cascade, problem.train(options).cascade)) << threads << " threads";
  }
}

TEST(Determinism, GivesTheSameBitsForAnyNumberOfThreads) {
  TrainOptions options;
  expect_same_bits_for_any_threads<float>(options);
  expect_same_bits_for_any_threads<double>(options);
  options.folds = 4;
  options.penalty = Penalty::held_out();
  expect_same_bits_for_any_threads<float>(options);
  expect_same_bits_for_any_threads<double>(options);
  options.pca_energy = 0.9;
  options.rank = 3;
  options.rank_tolerance = 0.01;
  expect_same_bits_for_any_threads<float>(options);
  expect_same_bits_for_any_threads<double>(options);
}

TEST(Determinism, FollowsTheSeedWhereFoldsAreDrawn) {
  const TanhProblem<double> problem(4, 12, 90, true, 81);
  TrainOptions a, b;
  a.stages = b.stages = 2;
  a.seed = 1;
  b.seed = 2;
  EXPECT_TRUE(same_bits(problem.train(a).cascade, problem.train(b).cascade));
  a.folds = b.folds = 3;
  const auto with_a = problem.train(a);
  EXPECT_FALSE(same_bits(with_a.cascade, problem.train(b).cascade));
  EXPECT_TRUE(same_bits(with_a.cascade, problem.train(a).cascade));
}

}  // namespace
}  // namespace sdm
