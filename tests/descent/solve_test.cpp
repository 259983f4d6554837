#include "sdm/descent/solve.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "tests/allocation_count.h"
#include "tests/io/expect_error.h"
#include "tests/linear/random.h"

namespace sdm {
namespace {

using io::expect_error;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Halves the distance to the target in every stage: h(x) = x, R = 1/2.
Cascade<double> halving(int stages, Index size = 3) {
  Cascade<double> cascade;
  cascade.state_size = size;
  for (int k = 0; k < stages; ++k)
    cascade.maps.emplace_back(Matrix<double>(0.5 * Matrix<double>::Identity(size, size)),
                              Vector<double>(Vector<double>::Zero(size)));
  return cascade;
}

const auto kIdentity = [](ConstVectorRef<double> x, VectorRef<double> out) { out = x; };

TEST(Solve, SaysThatItDiverged) {
  // h(x) = x, R = 2.5: every stage ends further away, at -1.5 times the distance.
  Cascade<double> cascade = halving(4, 1);
  for (auto& map : cascade.maps)
    map = DescentMap<double>(Matrix<double>::Constant(1, 1, 2.5), Vector<double>::Zero(1));
  const Vector<double> x0{{1}}, y{{0}};
  const auto away = solve(cascade, kIdentity, x0, y);
  EXPECT_NEAR(away.x[0], std::pow(-1.5, 4), 1e-12);
  EXPECT_TRUE(away.summary.finite);
  EXPECT_FALSE(away.summary.converged());
  EXPECT_NE(away.summary.brief_report().find("diverged"), std::string::npos);
  EXPECT_TRUE(solve(halving(4, 1), kIdentity, x0, y).summary.converged());
}

TEST(Solve, RunsEveryStageAndSaysWhatItDid) {
  const Vector<double> x0{{4, -2, 1}}, y{{1, 1, 1}};
  const auto solution = solve(halving(5), kIdentity, x0, y);
  EXPECT_LT((solution.x - (y + (x0 - y) / 32)).norm(), 1e-14);
  EXPECT_EQ(solution.summary.stages, 5);
  EXPECT_TRUE(solution.summary.finite);
  EXPECT_NEAR(solution.summary.initial_residual, (x0 - y).norm(), 1e-14);
  EXPECT_NEAR(solution.summary.final_residual, (x0 - y).norm() / 32, 1e-14);
  EXPECT_NEAR(solution.summary.last_step, (x0 - y).norm() / 32, 1e-14);
  EXPECT_NE(solution.summary.brief_report().find("5 stages"), std::string::npos);
}

TEST(Solve, UsesTheBiasWhereTheTemplateIsUnknown) {
  Cascade<double> cascade = halving(1);
  cascade.template_known = false;
  cascade.maps[0] = {Matrix<double>(Matrix<double>::Identity(3, 3)), Vector<double>{{1, 2, 3}}};
  EXPECT_EQ(solve(cascade, kIdentity, Vector<double>{{9, 9, 9}}).x, (Vector<double>{{1, 2, 3}}));
}

TEST(Solve, MeasuresTheLastResidualOnlyWhenAsked) {
  const Cascade<double> cascade = halving(2);
  Solver<double> solver(cascade);
  int calls = 0;
  const auto features = [&](int, const auto& x, auto&& out) {
    ++calls;
    out = x;
  };
  const auto step = [](int, const auto& x, const auto& delta, auto&& out) { out = x + delta; };
  Vector<double> x = Vector<double>::Ones(3);
  EXPECT_TRUE(std::isnan(solver.solve(x, features, step).final_residual));
  EXPECT_EQ(calls, 2);
  EXPECT_NEAR(solver.solve(x, features, step, true).final_residual, std::sqrt(3.0) / 16, 1e-15);
  EXPECT_EQ(calls, 5);
}

TEST(Solve, KeepsTheLastGoodStateWhenAValueIsNotFinite) {
  const auto turns_bad = [](ConstVectorRef<double> x, VectorRef<double> out) {
    out = x;
    if (x.norm() < 0.3) out[1] = kNaN;
  };
  const Vector<double> x0{{1, 0, 0}};
  const Vector<double> y = Vector<double>::Zero(3);
  const auto solution = solve(halving(6), turns_bad, x0, y);  // 1, 1/2, 1/4: there it is bad
  EXPECT_FALSE(solution.summary.finite);
  EXPECT_EQ(solution.summary.stages, 2);
  EXPECT_EQ(solution.x, (Vector<double>{{0.25, 0, 0}}));
  EXPECT_EQ(solution.summary.last_step, 0.25);
  EXPECT_NE(solution.summary.brief_report().find("not finite"), std::string::npos);
}

TEST(Solve, SeesABadFeatureEvenThroughAStepThatClamps) {
  const Cascade<double> cascade = halving(3);
  Solver<double> solver(cascade);
  Vector<double> x = Vector<double>::Ones(3);
  const auto summary = solver.solve(
      x, [](int, const auto&, auto&& out) { out.setConstant(kNaN); },
      [](int, const auto& at, const auto& delta, auto&& out) {
        for (Index i = 0; i < 3; ++i) {
          const double next = at[i] + delta[i];
          out[i] = next > 0 ? next : 0.0;  // NaN becomes 0
        }
      });
  EXPECT_FALSE(summary.finite);
  EXPECT_EQ(x, Vector<double>::Ones(3));
}

TEST(Solve, RefusesACascadeThatDoesNotFit) {
  const Vector<double> x0 = Vector<double>::Zero(3);
  const auto with = [&](const Cascade<double>& cascade, Index states, Index features) {
    return [=] {
      const Matrix<double> y = Matrix<double>::Zero(features, 1);
      solve(cascade, function_problem<double>(kIdentity, states, features, 1, y), 0, x0);
    };
  };
  expect_error(with({}, 3, 3), "the cascade has no stages");
  const Cascade<double> none;
  expect_error([&] { Solver<double> solver(none); }, "the cascade has no stages");
  expect_error(with(halving(2), 4, 3), "trained on states of 3 values, the problem has 4");
  expect_error(with(halving(2), 3, 5),
               "stage 0 of the cascade maps 3 features to 3 values, the problem has 5 and 3");
  expect_error(with(halving(2, 2), 2, 2), "the start has 3 values, expected 2");

  Cascade<double> mixed = halving(2);
  mixed.maps[1] = {Matrix<double>(Matrix<double>::Zero(3, 8)),
                   Vector<double>(Vector<double>::Zero(3))};
  expect_error(with(mixed, 3, 3),
               "stage 1 of the cascade maps 8 features to 3 values, the problem has 3 and 3");
  Cascade<double> short_moves = halving(1);
  short_moves.maps[0] = {Matrix<double>(Matrix<double>::Zero(2, 3)),
                         Vector<double>(Vector<double>::Zero(2))};
  expect_error(with(short_moves, 3, 3), "stage 0 of the cascade maps 3 features to 2 values");
  expect_error([&] { solve(halving(1), kIdentity, x0, Vector<double>(Vector<double>::Zero(2))); },
               "the templates have 2 rows");
}

TEST(Solve, RefusesATemplateTooManyAndATemplateTooFew) {
  const Vector<double> x0 = Vector<double>::Zero(3), y = Vector<double>::Ones(3);
  expect_error([&] { solve(halving(1), kIdentity, x0); },
               "there is no template y, but the cascade was trained with one");
  Cascade<double> unknown = halving(1);
  unknown.template_known = false;
  expect_error([&] { solve(unknown, kIdentity, x0, y); },
               "there is a template y, but the cascade was trained without one");
  EXPECT_NO_THROW(solve(unknown, kIdentity, x0));
}

TEST(Solve, TakesAFunctionThatReturnsItsValuesAndExpressions) {
  const auto h = [](const auto& x) { return Vector<double>(x.array() * 1); };
  const auto solution = solve(halving(30), h, Vector<double>::Zero(3),
                              Eigen::Vector3d(1, 2, 3) + Eigen::Vector3d(0, 0, 1));
  EXPECT_LT((solution.x - Eigen::Vector3d(1, 2, 4)).norm(), 1e-6);
  const auto longer = [](const auto& x) { return Vector<double>::Zero(x.size() + 1).eval(); };
  expect_error([&] { solve(halving(1), longer, Vector<double>::Zero(3), Vector<double>::Zero(3)); },
               "h gave 4 values, expected 3");
}

TEST(Solver, ShowsEachStageItsStateAndFeaturesAndTellsStepTheStage) {
  const Cascade<double> cascade = halving(3);
  Solver<double> solver(cascade);
  Vector<double> x = Vector<double>::Constant(3, 8);
  std::vector<double> seen;
  std::vector<int> stages, steps;
  solver.solve(
      x, [](int, const auto& at, auto&& out) { out = at; },
      [&](int stage, const auto& at, const auto& delta, auto&& out) {
        steps.push_back(stage);
        out = at + delta;
      },
      false,
      [&](int stage, const auto& at, const auto& f) {
        stages.push_back(stage);
        seen.push_back(at[0]);
        EXPECT_EQ(f, at);
      });
  EXPECT_EQ(stages, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(steps, stages);
  EXPECT_EQ(seen, (std::vector<double>{8, 4, 2}));
  EXPECT_EQ(x[0], 1);
}

// It would be gone when the solver runs.
static_assert(!std::is_constructible_v<Solver<double>, Cascade<double>>);

template <class Scalar>
void expect_no_allocation() {
  Cascade<Scalar> cascade;
  cascade.state_size = 20;
  for (unsigned k = 0; k < 3; ++k)
    cascade.maps.emplace_back(Matrix<Scalar>(random_matrix<Scalar>(20, 300, k) * Scalar(1e-3)),
                              random_vector<Scalar>(20, 9));
  cascade.maps.emplace_back(random_matrix<Scalar>(20, 5, 3),
                            Matrix<Scalar>(random_matrix<Scalar>(5, 300, 4) * Scalar(1e-3)),
                            random_vector<Scalar>(20, 5));
  const auto h = [](ConstVectorRef<Scalar> x, VectorRef<Scalar> out) {
    for (Index i = 0; i < out.size(); ++i)
      out[i] = std::sin(x[i % x.size()] + static_cast<Scalar>(i));
  };
  const auto problem = function_problem<Scalar>(h, 20, 300, 4, random_matrix<Scalar>(300, 4, 6));
  Solver<Scalar> solver(cascade);
  Vector<Scalar> x = Vector<Scalar>::Zero(20);
  const int before = allocations;
  const SolveSummary summary = solver.solve(problem, 2, x, true);
  const int after = allocations;
  EXPECT_EQ(after, before);
  EXPECT_EQ(summary.stages, 4);
}

TEST(Solver, AllocatesNothingOnceItIsBuilt) {
  if (!counts_allocations) GTEST_SKIP() << "a sanitizer has a malloc of its own";
  const int before = allocations;
  const Vector<double> counted(100);
  EXPECT_GT(allocations, before) << "the counter must count";
  expect_no_allocation<float>();
  expect_no_allocation<double>();
}

}  // namespace
}  // namespace sdm
