#include "sdm/descent/train/train.h"

#include <gmock/gmock.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "sdm/base/error.h"
#include "sdm/descent/solve.h"
#include "tests/descent/problems.h"
#include "tests/descent/train/naive.h"
#include "tests/temporary_folder.h"

namespace sdm {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TrainOptions plain(int stages, double lambda) {
  TrainOptions options;
  options.stages = stages;
  options.penalty = Penalty::given(lambda);
  return options;
}

// Features of every sample of a problem at its states.
template <class P>
Matrix<double> features_at(const P& problem, int stage, const Matrix<double>& states) {
  Matrix<double> f(problem.feature_size(stage), states.cols());
  for (Index i = 0; i < states.cols(); ++i) problem.features(i, stage, states.col(i), f.col(i));
  return f;
}

const Vector<double> kOnes = Vector<double>::Ones(400);

// The trainer moves its samples in slices, by a loop of its own: it must be the solver's.
TEST(Train, MovesItsSamplesAsTheSolverDoes) {
  const TanhProblem<double> problem(3, 8, 60, false, 5);
  const auto trained = train(problem, problem.starts, problem.targets, plain(3, 0.01));
  double error = 0;
  for (Index i = 0; i < 60; ++i) {
    const auto solved = solve(trained.cascade, problem, i, Vector<double>(problem.starts.col(i)));
    error += (solved.x - problem.targets.col(i)).norm() / 60;
  }
  EXPECT_NEAR(trained.summary.stages.back().error_after, error, 1e-12);
}

TEST(Train, TakesAPlainFunctionAndItsExamples) {
  const auto h = [](const auto& x, auto&& out) {
    out[0] = std::sin(x[0]);
    out[1] = x[0] + x[1];
    out[2] = x[1] * x[1];
  };
  const Matrix<double> targets = random_matrix<double>(2, 300, 1);
  Matrix<double> measured(3, 300);
  for (Index i = 0; i < 300; ++i) h(targets.col(i), measured.col(i));
  const Vector<double> start = Vector<double>::Zero(2);
  const auto plainly = train(h, start, targets, measured);
  const auto told =
      train(function_problem<double>(h, 2, 3, 300, measured), Matrix<double>(start), targets);
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_EQ(plainly.cascade.maps[k].matrix(), told.cascade.maps[k].matrix());
  EXPECT_TRUE(plainly.cascade.template_known);

  // In single precision, from expressions, without an option in sight.
  const auto narrow =
      train(h, Eigen::Vector2f::Zero(), targets.cast<float>(), measured.cast<float>());
  EXPECT_LT(relative_gap(narrow.cascade.maps[0].matrix(), told.cascade.maps[0].matrix()), 1e-4);
}

TEST(Train, TakesAPlainFunctionWhoseTemplateIsUnknown) {
  const auto h = [](const auto& x) { return Eigen::Vector3d(x[0], x[1], x[0] * x[1]); };
  const Matrix<double> starts = random_matrix<double>(2, 200, 1);
  const Vector<double> target{{0.3, -0.2}};
  const auto trained = train(h, starts, target);
  EXPECT_FALSE(trained.cascade.template_known);
  EXPECT_EQ(trained.cascade.maps[0].feature_size(), 3);
  const auto solved = solve(trained.cascade, h, Vector<double>(starts.col(3)));
  EXPECT_LT((solved.x - target).norm(), 1e-3);
}

// h(x) = A x + c has one exact map, the pseudo-inverse of A, whatever the case of the paper.
class LinearTrain : public testing::Test {
 protected:
  const Matrix<double> a = random_matrix<double>(7, 3, 1);
  const Vector<double> c = random_vector<double>(7, 2);
  const Matrix<double> starts = random_matrix<double>(3, 40, 3);
  const Matrix<double> targets = random_matrix<double>(3, 40, 4);

  auto problem(Matrix<double> templates) const {
    const auto h = [this](ConstVectorRef<double> x, VectorRef<double> out) { out = a * x + c; };
    return function_problem<double>(h, 3, 7, 40, std::move(templates));
  }
};

TEST_F(LinearTrain, IsExactInOneStageForAFixedTemplate) {
  const Vector<double> target = targets.col(0), y = a * target + c;
  const auto result = train(problem(y), starts, Matrix<double>(target), plain(1, 1e-12));
  EXPECT_LT(result.summary.stages[0].error_after, 1e-9);
  EXPECT_LT(relative_gap(result.cascade.maps[0].matrix() * a, Matrix<double>::Identity(3, 3)),
            1e-9);
  EXPECT_EQ(result.cascade.maps[0].bias().norm(), 0);
}

TEST_F(LinearTrain, IsExactInOneStageForTemplatesThatDiffer) {
  const auto p = problem((a * targets).colwise() + c);
  const auto result = train(p, starts, targets, plain(1, 1e-12));
  EXPECT_LT(result.summary.stages[0].error_after, 1e-9);
  const auto solution = solve(result.cascade, p, 11, Vector<double>(starts.col(5)));
  EXPECT_LT((solution.x - targets.col(11)).norm(), 1e-9);
}

TEST_F(LinearTrain, IsExactInOneStageForAnUnknownTemplateByItsBias) {
  const Vector<double> target = targets.col(0);
  const auto result = train(problem({}), starts, Matrix<double>(target), plain(1, 1e-12));
  EXPECT_LT(result.summary.stages[0].error_after, 1e-9);
  // x - R (A x + c) + b = target for every x.
  const DescentMap<double>& map = result.cascade.maps[0];
  EXPECT_LT((map.bias() - map.matrix() * c - target).norm(), 1e-9);
}

TEST_F(LinearTrain, TakesOneStartForAllSamples) {
  const Matrix<double> start = starts.col(0);
  const auto p = problem((a * targets).colwise() + c);
  const auto one = train(p, start, targets, plain(1, 0.1));
  const auto all = train(p, start.replicate(1, 40), targets, plain(1, 0.1));
  EXPECT_TRUE(same_bits(one.cascade, all.cascade));
}

// Every stage's map must be the plain least-squares solution at the states it started from. A
// penalty for each stage.
void expect_plain_way(const TanhProblem<double>& problem, const TrainOptions& options,
                      const std::vector<double>& lambdas) {
  const auto result = problem.train(options);
  ASSERT_EQ(result.cascade.stages(), static_cast<int>(lambdas.size()));
  Matrix<double> states = problem.starts;
  const Index n = problem.samples();
  for (int stage = 0; stage < options.stages; ++stage) {
    SCOPED_TRACE(stage);
    const double lambda = lambdas[static_cast<std::size_t>(stage)];
    const Matrix<double> f = features_at(problem, stage, states), d = problem.targets - states;
    Vector<double> w(n);
    for (Index i = 0; i < n; ++i) {
      w[i] = problem.weight(i);
      if (options.robust_weight) w[i] *= options.robust_weight(d.col(i).norm());
    }
    const naive::Map expected = naive::ridge(f, d, w, lambda, !problem.known);
    const DescentMap<double>& got = result.cascade.maps[static_cast<std::size_t>(stage)];
    EXPECT_LT(relative_gap(got.matrix(), expected.r), 1e-7);
    EXPECT_LT((got.bias() - expected.b).norm(), 1e-7 * (1 + expected.b.norm()));
    const StageSummary& summary = result.summary.stages[static_cast<std::size_t>(stage)];
    EXPECT_NEAR(summary.error_before, d.colwise().norm().mean(), 1e-9);
    states += expected.apply(f);
    EXPECT_NEAR(summary.error_after, (problem.targets - states).colwise().norm().mean(), 1e-7);
    EXPECT_NEAR(summary.penalty, lambda, 1e-12);
  }
}

TEST(Train, FollowsThePaperStageByStage) {
  for (const bool known : {true, false})
    expect_plain_way(TanhProblem<double>(4, 12, 200, known, 10), plain(4, 0.3),
                     {0.3, 0.3, 0.3, 0.3});
}

TEST(Train, CountsSamplesByTheirWeights) {
  TanhProblem<double> problem(3, 9, 120, false, 20);
  for (Index i = 0; i < 120; ++i) problem.weights.push_back(static_cast<double>(i % 5));
  expect_plain_way(problem, plain(3, 0.2), {0.2, 0.2, 0.2});
}

TEST(Train, HoldsOutliersBackByTheirCurrentError) {
  TrainOptions options = plain(3, 0.2);
  options.robust_weight = [](double error) { return std::min(1.0, 0.7 / error); };
  expect_plain_way(TanhProblem<double>(3, 9, 120, true, 20), options, {0.2, 0.2, 0.2});
}

TEST(Train, GivesTheSameMapsWhateverTheChunk) {
  TrainOptions options = plain(2, 0.1);
  options.chunk = 7;
  expect_plain_way(TanhProblem<double>(3, 9, 100, false, 21), options, {0.1, 0.1});
}

TEST(Train, HoldsEachStageBackByItsOwnPenaltyAndFurtherOnesByTheLast) {
  TrainOptions options = plain(4, 100);
  options.stage_penalties = {Penalty::given(0.1), Penalty::given(3), Penalty::given(20)};
  for (const bool known : {true, false})
    expect_plain_way(TanhProblem<double>(3, 9, 120, known, 22), options, {0.1, 3, 20, 20});
}

TEST(Train, UsesTheDualFormForFewSamples) {
  for (const bool known : {true, false}) {
    const TanhProblem<double> problem(3, 50, 20, known, 30);
    expect_plain_way(problem, plain(3, 0.2), {0.2, 0.2, 0.2});
    const auto summary = problem.train(plain(1, 0.2)).summary.stages[0];
    EXPECT_TRUE(summary.dual);
    EXPECT_EQ(summary.components, summary.features);
  }
}

TEST(Train, TakesARelativePenaltyAsAShareOfTheTrace) {
  for (const bool known : {true, false}) {
    const TanhProblem<double> problem(3, 9, 60, known, 31);
    TrainOptions options;
    options.stages = 1;
    options.penalty = Penalty::relative(0.05);
    const double share =
        naive::trace_share(features_at(problem, 0, problem.starts), kOnes.head(60), !known);
    const auto summary = problem.train(options).summary.stages[0];
    EXPECT_NEAR(summary.penalty, 0.05 * share, 1e-10 * share);
    EXPECT_NEAR(summary.penalty_factor, 0.05, 1e-10);
  }
}

TEST(Train, IsNotMovedByALargeOffsetOfTheFeaturesInFloat) {
  // With a bias an offset changes nothing but the bias; in float a naive sum would lose all digits.
  const TanhProblem<float> problem(3, 9, 300, false, 32);
  const auto h = [&](ConstVectorRef<float> x, VectorRef<float> out) {
    out = problem.h(x).array() + 256.0F;
  };
  const auto offset = function_problem<float>(h, 3, 9, 300);
  const auto a = problem.train(plain(1, 0.1));
  const auto b = train(offset, problem.starts, problem.targets, plain(1, 0.1));
  EXPECT_LT(relative_gap(b.cascade.maps[0].matrix(), a.cascade.maps[0].matrix()), 5e-3);
  EXPECT_NEAR(b.summary.stages[0].error_after, a.summary.stages[0].error_after, 1e-3);
}

TEST(Train, HoldsMapsBackByAPenaltyAboveTheRoundingOfItsNumbersUnlessTold) {
  // Features of a spectrum 1/k^2: in single precision their Gram matrix is not definite.
  Matrix<double> mix = random_matrix<double>(200, 200, 36);
  for (Index k = 0; k < 200; ++k) mix.col(k) /= static_cast<double>((k + 1) * (k + 1));
  const Matrix<double> f = mix * random_matrix<double>(200, 1000, 37);
  struct P {
    using Scalar = float;
    const Matrix<double>& f;
    Index samples() const { return f.cols(); }
    Index state_size() const { return 2; }
    Index feature_size(int) const { return f.rows(); }
    bool template_known() const { return true; }
    void features(Index i, int, ConstVectorRef<float>, VectorRef<float> out) const {
      out = f.col(i).cast<float>();
    }
  } const problem{f};
  const Matrix<float> start = Matrix<float>::Zero(2, 1),
                      targets = random_matrix<float>(2, 1000, 38);
  TrainOptions options;
  options.stages = 1;
  const auto result = train(problem, start, targets, options);
  const double epsilon = std::numeric_limits<float>::epsilon();
  EXPECT_NEAR(result.summary.stages[0].penalty_factor, 4 * 200 * epsilon, 1e-3 * 800 * epsilon);

  options.penalty = Penalty::relative(1e-6);
  try {
    train(problem, start, targets, options);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("is lost in the rounding of single precision"));
  }
  // In double precision 1e-6 is far above it.
  const auto wide = TanhProblem<double>(3, 9, 60, true, 31).train({});
  EXPECT_NEAR(wide.summary.stages[0].penalty_factor, 1e-6, 1e-12);
}

TEST(Train, RegressesOnPrincipalComponentsWhenAsked) {
  for (const bool known : {true, false}) {
    const TanhProblem<double> problem(4, 30, 200, known, 33);
    TrainOptions options = plain(1, 0.2);
    options.pca_energy = 0.9;
    const auto result = problem.train(options);

    const Matrix<double> f = features_at(problem, 0, problem.starts);
    Matrix<double> g = f;
    if (!known) g.colwise() -= Vector<double>(f.rowwise().mean());
    const Eigen::SelfAdjointEigenSolver<Matrix<double>> eigen(g * g.transpose());
    Index kept = 0;
    double sum = 0;
    while (sum < 0.9 * g.squaredNorm()) sum += eigen.eigenvalues()[29 - kept++];
    const Matrix<double> basis = eigen.eigenvectors().rightCols(kept);
    const naive::Map small = naive::ridge(basis.transpose() * f, problem.targets - problem.starts,
                                          kOnes.head(200), 0.2, !known);
    EXPECT_EQ(result.summary.stages[0].components, kept);
    EXPECT_LT(relative_gap(result.cascade.maps[0].matrix(), small.r * basis.transpose()), 1e-8);
    EXPECT_LT((result.cascade.maps[0].bias() - small.b).norm(), 1e-8);
  }
}

struct PartlyMoving : TanhProblem<double> {
  using TanhProblem::TanhProblem;
  std::vector<Index> values;  // that every stage moves
  std::vector<Index> moved(int) const { return values; }
};

TEST(Train, LearnsOnlyTheValuesThatAStageMoves) {
  PartlyMoving problem(5, 12, 200, false, 34);
  for (const Index rank : {0, 2}) {
    TrainOptions options = plain(1, 0.2);
    options.folds = 3;
    problem.values = {};
    const Matrix<double> whole =
        train(problem, problem.starts, problem.targets, options).cascade.maps[0].matrix();
    options.rank = rank;
    problem.values = {1, 4};
    const auto result = train(problem, problem.starts, problem.targets, options);
    const DescentMap<double>& map = result.cascade.maps[0];
    ASSERT_EQ(map.delta_size(), 5);
    // The outputs of a ridge regression do not know of each other; two have rank 2.
    for (const Index row : {1, 4}) EXPECT_LT((map.matrix().row(row) - whole.row(row)).norm(), 1e-9);
    for (const Index row : {0, 2, 3}) {
      EXPECT_EQ(map.matrix().row(row).norm(), 0);
      EXPECT_EQ(map.bias()[row], 0);
      EXPECT_EQ(result.states.row(row), problem.starts.row(row));
    }
    EXPECT_NE(result.states.row(4), problem.starts.row(4));
  }
}

TEST(Train, RefusesAStageThatMovesWhatIsNotThere) {
  PartlyMoving problem(5, 12, 200, false, 34);
  for (const std::vector<Index>& values : {std::vector<Index>{1, 5}, {2, 1}, {3, 3}, {-1}}) {
    problem.values = values;
    EXPECT_THAT([&] { train(problem, problem.starts, problem.targets, plain(1, 0.2)); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("stage 0 moves value")));
  }
}

TEST(Train, StoresMapsOfReducedRankAsTheirBestFactors) {
  const TanhProblem<double> problem(5, 12, 200, false, 34);
  const auto full = problem.train(plain(1, 0.2)).cascade.maps[0];
  TrainOptions options = plain(1, 0.2);
  options.rank = 2;
  const auto reduced = problem.train(options).cascade.maps[0];
  EXPECT_EQ(reduced.rank(), 2);
  EXPECT_EQ(reduced.left().cols(), 2);

  // R_2 = U U^T R, U the leading eigenvectors of R (G + lambda) R^T with G the centred Gram.
  Matrix<double> f = features_at(problem, 0, problem.starts);
  const Vector<double> mean = f.rowwise().mean();
  f.colwise() -= mean;
  Matrix<double> g = f * f.transpose();
  g.diagonal().array() += 0.2;
  const Matrix<double> r = full.matrix();
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> eigen(r * g * r.transpose());
  const Matrix<double> u = eigen.eigenvectors().rightCols(2);
  EXPECT_LT(relative_gap(reduced.matrix(), u * u.transpose() * r), 1e-8);
  // The bias is that of the reduced map: the mean features give the mean delta.
  const Vector<double> at_mean = reduced.bias() - reduced.matrix() * mean;
  EXPECT_LT((at_mean - (problem.targets - problem.starts).rowwise().mean()).norm(), 1e-9);

  options.rank = 9;  // more than there are deltas
  const auto whole = problem.train(options).cascade.maps[0];
  EXPECT_LT(relative_gap(whole.matrix(), r), 1e-9);
}

TEST(Train, KeepsTheInverseCovarianceForOnlineUpdates) {
  for (const bool known : {true, false}) {
    TanhProblem<double> problem(3, 6, 80, known, 35);
    for (Index i = 0; i < 80; ++i) problem.weights.push_back(0.5 + static_cast<double>(i % 3));
    TrainOptions options = plain(1, 0.4);
    options.keep_inverse_covariance = true;
    const auto result = problem.train(options);
    ASSERT_EQ(result.inverse_covariances.size(), 1U);
    const Index size = known ? 6 : 7;
    Matrix<double> sigma = Matrix<double>::Zero(size, size);
    sigma.topLeftCorner(6, 6).diagonal().setConstant(0.4);
    const Matrix<double> f = features_at(problem, 0, problem.starts);
    for (Index i = 0; i < 80; ++i) {
      Vector<double> phi = Vector<double>::Ones(size);
      phi.head(6) = f.col(i);
      sigma += problem.weight(i) * phi * phi.transpose();
    }
    EXPECT_LT((result.inverse_covariances[0].plain() * sigma - Matrix<double>::Identity(size, size))
                  .norm(),
              1e-9);
  }
}

// An angle, stored as (cos, sin): the state has two numbers, a move has one.
struct Circle {
  using Scalar = double;
  Matrix<double> starts, targets;
  Matrix<double> landmarks = random_matrix<double>(2, 5, 40);

  static Vector<double> at(double angle) {
    return Vector<double>{{std::cos(angle), std::sin(angle)}};
  }
  explicit Circle(Index samples) : starts(2, samples), targets(2, samples) {
    const Matrix<double> random = random_matrix<double>(2, samples, 41);
    for (Index i = 0; i < samples; ++i) {
      targets.col(i) = at(9 * random(0, i));
      starts.col(i) = at(9 * random(0, i) + 0.4 * random(1, i));
    }
  }
  Matrix<double> seen_from(ConstVectorRef<double> x) const {
    Matrix<double> rotation(2, 2);
    rotation << x[0], -x[1], x[1], x[0];
    return rotation * landmarks;
  }

  Index samples() const { return starts.cols(); }
  Index state_size() const { return 2; }
  Index delta_size() const { return 1; }
  Index feature_size(int) const { return 10; }
  bool template_known() const { return true; }
  void features(Index i, int, ConstVectorRef<double> x, VectorRef<double> out) const {
    // Template and view both turned back by the state: the map need not depend on the angle.
    Matrix<double> back(2, 2);
    back << x[0], x[1], -x[1], x[0];
    Eigen::Map<Matrix<double>>(out.data(), 2, 5) = landmarks - back * seen_from(targets.col(i));
  }
  void difference(ConstVectorRef<double> x, ConstVectorRef<double> t, VectorRef<double> out) const {
    out[0] = std::atan2(x[0] * t[1] - x[1] * t[0], x.dot(t));
  }
  void step(int /*stage*/, ConstVectorRef<double> x, ConstVectorRef<double> delta,
            VectorRef<double> out) const {
    const double c = std::cos(delta[0]), s = std::sin(delta[0]), x0 = x[0], x1 = x[1];
    out[0] = c * x0 - s * x1;
    out[1] = s * x0 + c * x1;
  }
};

TEST(Train, MovesStatesByTheProblemsOwnSteps) {
  const Circle circle(150);
  const auto result = train(circle, circle.starts, circle.targets, plain(3, 0.05));
  EXPECT_EQ(result.cascade.delta_size(), 1);
  Matrix<double> states = circle.starts;
  for (int stage = 0; stage < 3; ++stage) {
    const Matrix<double> f = features_at(circle, stage, states);
    Matrix<double> d(1, 150);
    for (Index i = 0; i < 150; ++i)
      circle.difference(states.col(i), circle.targets.col(i), d.col(i));
    const naive::Map expected = naive::ridge(f, d, kOnes.head(150), 0.05, false);
    const auto& got = result.cascade.maps[static_cast<std::size_t>(stage)];
    EXPECT_LT(relative_gap(got.matrix(), expected.r), 1e-7);
    const Matrix<double> moves = expected.apply(f);
    for (Index i = 0; i < 150; ++i) {
      Vector<double> next(2);
      circle.step(stage, states.col(i), moves.col(i), next);
      states.col(i) = next;
    }
  }
  const auto solution = solve(result.cascade, circle, 7, Vector<double>(circle.starts.col(7)));
  EXPECT_NEAR(solution.x.norm(), 1, 1e-12);
  EXPECT_LT((solution.x - circle.targets.col(7)).norm(),
            0.05 * (circle.starts.col(7) - circle.targets.col(7)).norm());
}

TEST(Train, LearnsTheBiasAloneFromOneSample) {
  const TanhProblem<double> problem(3, 6, 1, false, 50);
  const auto result = problem.train(plain(1, 0.1));
  EXPECT_EQ(result.cascade.maps[0].matrix().norm(), 0);
  EXPECT_LT((result.cascade.maps[0].bias() - (problem.targets - problem.starts)).norm(), 1e-12);
}

TEST(Train, LearnsTheDirectionOfOneSampleWithAKnownTemplate) {
  const TanhProblem<double> problem(3, 6, 1, true, 51);
  const auto result = problem.train(plain(1, 0.1));
  const Vector<double> f = features_at(problem, 0, problem.starts),
                       d = problem.targets - problem.starts;
  EXPECT_LT(
      relative_gap(result.cascade.maps[0].matrix(), -d * f.transpose() / (f.squaredNorm() + 0.1)),
      1e-10);
}

template <class Scalar>
void expect_the_mean_move(Scalar value, Index samples, const TrainOptions& options) {
  const auto h = [&](ConstVectorRef<Scalar>, VectorRef<Scalar> out) {
    for (Index k = 0; k < out.size(); ++k) out[k] = value * static_cast<Scalar>(k + 1);
  };
  const auto problem = function_problem<Scalar>(h, 2, 5, samples);
  const Matrix<Scalar> starts = random_matrix<Scalar>(2, samples, 1),
                       targets = random_matrix<Scalar>(2, samples, 2);
  const auto map = train(problem, starts, targets, options).cascade.maps[0];
  Vector<Scalar> features(5);
  h(starts.col(0), features);
  const Vector<Scalar> delta = map.bias() - map.matrix() * features;
  const Matrix<double> moves = (targets - starts).template cast<double>();
  Vector<double> weights = Vector<double>::Ones(samples);
  if (options.robust_weight)
    for (Index i = 0; i < samples; ++i) weights[i] = options.robust_weight(moves.col(i).norm());
  const Vector<double> mean = moves * weights / weights.sum();
  const double tolerance = sizeof(Scalar) == 4 ? 1e-3 : 1e-6;
  EXPECT_LT((delta.template cast<double>() - mean).norm(), tolerance)
      << value << ", " << samples << " samples, " << sizeof(Scalar) << " bytes";
}

TEST(Train, GivesTheMeanMoveWhereFeaturesNeverVary) {
  TrainOptions plain_way, in_folds, by_pca, weighted;
  plain_way.stages = in_folds.stages = by_pca.stages = weighted.stages = 1;
  in_folds.folds = 3;
  in_folds.penalty = Penalty::held_out({1e-4, 1e-2, 1});
  by_pca.pca_energy = 0.98;
  weighted.robust_weight = [](double error) { return 1 / (1 + error); };
  for (const TrainOptions& options : {plain_way, in_folds, by_pca, weighted})
    for (const Index samples : {4, 37, 200})  // fewer than features: the dual form
      for (const double value : {0.0, 0.1, 1.0 / 3, -1e6}) {
        expect_the_mean_move<double>(value, samples, options);
        expect_the_mean_move<float>(static_cast<float>(value), samples, options);
      }
}

TEST(Train, GivesZeroMapsOnceEverySampleHasArrived) {
  const TanhProblem<double> problem(3, 6, 30, true, 52);
  const auto result = train(problem, problem.targets, problem.targets);
  for (const auto& map : result.cascade.maps) EXPECT_EQ(map.matrix().norm(), 0);
  EXPECT_EQ(result.summary.stages.back().error_after, 0);
}

// New samples before every stage but the first.
struct RenewedProblem : TanhProblem<double> {
  using TanhProblem::TanhProblem;
  mutable std::vector<int> renewed;
  Matrix<double> others, their_targets;

  bool renew(int stage, const std::vector<DescentMap<double>>& maps, Matrix<double>& states,
             Matrix<double>& new_targets) const {
    renewed.push_back(stage);
    EXPECT_EQ(maps.size(), static_cast<std::size_t>(stage));
    states = others;
    new_targets = their_targets;
    return true;
  }
};

TEST(Train, LearnsAStageFromNewSamplesWhereTheProblemHasSome) {
  RenewedProblem problem(3, 12, 90, false, 5);
  const TanhProblem<double> other(3, 12, 90, false, 6);
  problem.others = other.starts;
  problem.their_targets = other.targets;
  TrainOptions options;
  options.stages = 2;
  const auto both = train(problem, problem.starts, problem.targets, options);
  EXPECT_EQ(problem.renewed, std::vector<int>{1});
  options.stages = 1;
  const auto first = train(problem, problem.starts, problem.targets, options);
  const auto second = train(problem, other.starts, other.targets, options);
  EXPECT_EQ(both.cascade.maps[0].right(), first.cascade.maps[0].right());
  EXPECT_EQ(both.cascade.maps[1].right(), second.cascade.maps[0].right());
  EXPECT_EQ(both.states, second.states);
  EXPECT_DOUBLE_EQ(both.summary.stages[1].error_before, second.summary.stages[0].error_before);
}

TEST(Train, RefusesNewSamplesOfAnotherNumberAndACheckpointOfThem) {
  RenewedProblem problem(3, 12, 90, false, 5);
  problem.others = problem.starts;
  problem.their_targets = problem.targets.leftCols(89);
  TrainOptions options;
  options.stages = 2;
  const auto run = [&] { train(problem, problem.starts, problem.targets, options); };
  EXPECT_THAT(run, ThrowsMessage<Error>(HasSubstr("there are 89 new targets")));
  problem.their_targets = problem.targets;
  const TemporaryFolder folder;
  options.checkpoint = folder / "checkpoint";
  EXPECT_THAT(run, ThrowsMessage<Error>(HasSubstr("a checkpoint does not hold")));
}

}  // namespace
}  // namespace sdm
