#include "sdm/descent/refine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "sdm/base/error.h"
#include "sdm/descent/train/train.h"
#include "tests/allocation_count.h"

namespace sdm {
namespace {

using Vec = Vector<double>;
using Mat = Matrix<double>;

Vec vec(std::initializer_list<double> values) {
  Vec v(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), v.data());
  return v;
}

const auto rosenbrock_residual = [](const auto& x, auto&& out) {
  out[0] = 10 * (x[1] - x[0] * x[0]);
  out[1] = 1 - x[0];
};
const auto rosenbrock_jacobian = [](const auto& x, auto&& out) { out << -20 * x[0], 10, -1, 0; };
const RefineProblem rosenbrock{2, rosenbrock_residual};
const RefineProblem rosenbrock_given{2, rosenbrock_residual, rosenbrock_jacobian};

/// As far as rounding allows.
RefineOptions tight() {
  RefineOptions options;
  options.gradient_tolerance = options.step_tolerance = 1e-13;
  options.cost_tolerance = 0;
  return options;
}

Mat normal(Index rows, Index cols, std::mt19937& random) {
  std::normal_distribution<double> draw;
  return Mat::NullaryExpr(rows, cols, [&] { return draw(random); });
}

TEST(Refine, FindsTheMinimumOfRosenbrockWithANumericJacobian) {
  const RefineResult result = refine(rosenbrock, vec({-1.2, 1}));
  EXPECT_TRUE(result.summary.converged()) << result.summary.brief_report();
  EXPECT_NEAR(result.x[0], 1, 1e-10);
  EXPECT_NEAR(result.x[1], 1, 1e-10);
}

TEST(Refine, AGivenJacobianSavesEvaluations) {
  const RefineResult result = refine(rosenbrock_given, vec({-1.2, 1}));
  EXPECT_NEAR(result.x[0], 1, 1e-10);
  EXPECT_LT(result.summary.evaluations, refine(rosenbrock, vec({-1.2, 1})).summary.evaluations);
}

TEST(Refine, SolvesALinearProblemAsItsQrDoes) {
  std::mt19937 random(1);
  const Mat a = normal(12, 4, random);
  const Vec b = normal(12, 1, random);
  const RefineResult result =
      refine(RefineProblem{12, [&](const auto& x, auto&& out) { out = a * x - b; },
                           [&](const auto&, auto&& out) { out = a; }},
             Vec::Zero(4));
  const Vec expected = a.colPivHouseholderQr().solve(b);
  EXPECT_LT((result.x - expected).norm(), 1e-10 * expected.norm());
  EXPECT_LE(result.summary.iterations, 4);
}

// Meyer's function (MGH10): the columns of the Jacobian differ by seven orders of magnitude. Data
// and certified values from NIST StRD; the start is NIST's second.
TEST(Refine, ReachesTheCertifiedDigitsOfABadlyScaledProblem) {
  const Vec y = vec({34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147,
                     4427, 3820, 3307, 2872});
  const auto residual = [&](const auto& b, auto&& out) {
    for (Index i = 0; i < 16; ++i)
      out[i] = b[0] * std::exp(b[1] / (50 + 5. * static_cast<double>(i) + b[2])) - y[i];
  };
  const auto jacobian = [](const auto& b, auto&& out) {
    for (Index i = 0; i < 16; ++i) {
      const double q = 50 + 5. * static_cast<double>(i) + b[2], e = std::exp(b[1] / q);
      out.row(i) << e, b[0] * e / q, -b[0] * e * b[1] / (q * q);
    }
  };
  const Vec start = vec({0.02, 4000, 250});
  for (const RefineResult& result :
       {refine(RefineProblem{16, residual}, start, tight()),
        refine(RefineProblem{16, residual, jacobian}, start, tight())}) {
    const Vec certified = vec({5.6096364710e-3, 6.1813463463e3, 3.4522363462e2});
    EXPECT_LT(((result.x - certified).array() / certified.array()).abs().maxCoeff(), 1e-8)
        << result.summary.brief_report();
    EXPECT_NEAR(2 * result.summary.final_cost, 8.7945855171e1, 1e-8);
  }
}

TEST(Refine, MovesStatesOnAManifoldByTheirStep) {
  // A unit vector turned by an angle until it points at the target.
  const Vec target = vec({std::cos(2.0), std::sin(2.0)});
  const auto residual = [&](const auto& x, auto&& out) { out = x - target; };
  const auto turn = [](const auto& x, const auto& delta, auto&& out) {
    const double c = std::cos(delta[0]), s = std::sin(delta[0]);
    out << c * x[0] - s * x[1], s * x[0] + c * x[1];
  };
  const RefineProblem problem{2, residual, NoJacobian{}, turn, 1};
  const RefineResult result = refine(problem, vec({1, 0}));
  EXPECT_LT((result.x - target).norm(), 1e-10) << result.summary.brief_report();
  EXPECT_NEAR(result.x.norm(), 1, 1e-12);

  Refiner<2, 2, 1> refiner;
  Eigen::Vector2d x(1, 0);
  refiner.refine(x, problem);
  EXPECT_LT((x - target).norm(), 1e-10);
}

TEST(Refine, StepsBackFromWhereTheResidualIsNotFinite) {
  const RefineProblem root{1, [](const auto& x, auto&& out) {
                             out[0] = std::log(x[0]) + 3;  // Gauss-Newton from 100 lands below 0
                           }};
  EXPECT_NEAR(refine(root, vec({100})).x[0], std::exp(-3.0), 1e-10);
}

TEST(Refine, DifferentiatesWhereACoordinateIsZeroOrTiny) {
  const RefineProblem shifted{2, [](const auto& x, auto&& out) {
                                out[0] = std::exp(x[0]) - 2;
                                out[1] = x[1] - x[0];
                              }};
  for (const double tiny : {0.0, 1e-12, -1e-12, 1e-300}) {
    const RefineResult result = refine(shifted, vec({tiny, tiny}));
    EXPECT_TRUE(result.summary.converged()) << result.summary.brief_report();
    EXPECT_NEAR(result.x[0], std::log(2.0), 1e-10) << tiny;
    EXPECT_NEAR(result.x[1], std::log(2.0), 1e-10) << tiny;
  }
}

TEST(Refine, DifferentiatesATinyCoordinateThatMayNotChangeSign) {
  const RefineProblem power{1, [](const auto& x, auto&& out) { out[0] = std::log(x[0]) + 20; }};
  EXPECT_NEAR(refine(power, vec({1e-12})).x[0] / std::exp(-20.0), 1, 1e-8);
}

TEST(Refine, CallsAPlateauStuckAndNotConverged) {
  const RefineProblem flat{2, [](const auto&, auto&& out) { out.setOnes(); }};
  const RefineProblem valley{1, [](const auto& x, auto&& out) { out[0] = x[0] * x[0] + 1; }};
  for (const RefineSummary& summary :
       {refine(flat, vec({0.5, 1e-12})).summary, refine(valley, vec({0})).summary}) {
    EXPECT_EQ(summary.stop, RefineStop::kStuck);
    EXPECT_FALSE(summary.converged());
  }
}

TEST(Refine, LeavesASolutionWhereItIs) {
  const RefineResult result = refine(rosenbrock, vec({1, 1}));
  EXPECT_EQ(result.x, vec({1, 1}));
  EXPECT_EQ(result.summary.stop, RefineStop::kResidual);
  EXPECT_EQ(result.summary.iterations, 0);
}

TEST(Refine, StopsAtTheLimitOfEvaluationsAndNeverGivesAWorsePoint) {
  double last = std::numeric_limits<double>::infinity();
  for (int limit = 1; limit < 12; ++limit) {
    const RefineSummary summary =
        refine(rosenbrock_given, vec({-1.2, 1}), {.max_evaluations = limit}).summary;
    EXPECT_EQ(summary.stop, RefineStop::kEvaluations);
    EXPECT_EQ(summary.evaluations, limit);
    EXPECT_LE(summary.final_cost, last);
    last = summary.final_cost;
  }
}

TEST(Refine, SaysWhyItStopped) {
  const std::string report = refine(rosenbrock, vec({-1.2, 1})).summary.brief_report();
  EXPECT_THAT(report, testing::HasSubstr("converged"));
  EXPECT_THAT(report, testing::HasSubstr("evaluations"));
  EXPECT_THAT(refine(rosenbrock, vec({-1.2, 1}), {.max_evaluations = 1}).summary.brief_report(),
              testing::HasSubstr("stopped: evaluations"));
}

TEST(Refine, RefusesWhatMakesNoSense) {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [](const RefineOptions& options) {
    EXPECT_THROW(refine(rosenbrock, vec({1, 1}), options), Error);
  };
  refused({.max_evaluations = 0});
  refused({.step_tolerance = nan});
  refused({.difference_step = 0});
  refused({.lower = vec({0})});
  refused({.lower = vec({0, 2}), .upper = vec({1, 1})});
  refused({.lower = vec({0, nan})});
  refused({.loss_scale = 0});
  refused({.method = RefineMethod::kBroyden});  // without a seed
  refused({.seed = Mat::Identity(2, 3)});
  refused({.seed = Mat::Constant(2, 2, nan)});
  refused(
      {.loss = RobustLoss::kHuber, .method = RefineMethod::kBroyden, .seed = Mat::Identity(2, 2)});

  EXPECT_THROW(refine(rosenbrock, Vec()), Error);
  EXPECT_THROW(refine(rosenbrock, vec({nan, 1})), Error);
  EXPECT_THROW(refine(RefineProblem{0, rosenbrock_residual}, vec({1, 1})), Error);
  const auto step = [](const auto& x, const auto& delta, auto&& out) { out = x + delta; };
  RefineProblem half{2, rosenbrock_residual};
  half.delta_size = 1;  // without a step function
  EXPECT_THROW(refine(half, vec({1, 1})), Error);
  const RefineProblem moved{2, rosenbrock_residual, NoJacobian{}, step, 2};
  EXPECT_THROW(refine(moved, vec({1, 1}), {.lower = vec({0, 0})}), Error);
  const auto broken = [&](const auto&, auto&& out) { out.setConstant(nan); };
  EXPECT_THROW(refine(RefineProblem{2, broken}, vec({1, 1})), Error);
  EXPECT_THROW(refine(RefineProblem{2, rosenbrock_residual, broken}, vec({2, 1})), Error);
  EXPECT_THROW(Refiner<>(0, 2), Error);
  EXPECT_THROW((Refiner<2, 3>(2, 4)), Error);
}

// ---- The refiner ------------------------------------------------------------------------------

/// y = a exp(-b t) + c at 20 times, with the noise of a seed.
struct Decay {
  Eigen::Array<double, 20, 1> t, y;
  explicit Decay(unsigned seed) {
    std::mt19937 random(seed);
    t.setLinSpaced(0, 4);
    y = 2 * (-1.3 * t).exp() + 0.5 + 0.05 * normal(20, 1, random).array();
  }
  template <class X, class Out>
  void residual(const X& x, Out&& out) const {
    out = (x[0] * (-x[1] * t).exp() + x[2] - y).matrix();
  }
  template <class X, class Out>
  void jacobian(const X& x, Out&& out) const {
    const Eigen::Array<double, 20, 1> e = (-x[1] * t).exp();
    out.col(0) = e.matrix();
    out.col(1) = (-x[0] * t * e).matrix();
    out.col(2).setOnes();
  }
};

TEST(Refiner, GivesTheSameForFixedAndDynamicSizes) {
  const Decay decay(1);
  const auto residual = [&](const auto& x, auto&& out) { decay.residual(x, out); };
  const auto jacobian = [&](const auto& x, auto&& out) { decay.jacobian(x, out); };
  Refiner<3, 20> fixed;
  Refiner<> dynamic(3, 20);
  for (const RobustLoss loss : {RobustLoss::kNone, RobustLoss::kCauchy}) {
    RefineOptions options;
    options.loss = loss;
    options.loss_scale = 0.05;
    options.covariance = true;
    options.lower = vec({0, 0, 0});
    Eigen::Vector3d x(1.8, 1, 0.4);
    Vec z = x;
    const RefineSummary a = fixed.refine(x, residual, jacobian, options);
    const RefineSummary b = dynamic.refine(z, residual, jacobian, options);
    EXPECT_TRUE(a.converged()) << a.brief_report();
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_LT((x - z).norm(), 1e-12);
    EXPECT_LT((fixed.covariance() - dynamic.covariance()).norm(), 1e-10 * b.final_cost);
    EXPECT_LT(
        (refine(RefineProblem{20, residual, jacobian}, Eigen::Vector3d(1.8, 1, 0.4), options).x - z)
            .norm(),
        1e-12);
  }
}

TEST(Refiner, FitsNoisyDataInAFewIterationsByDefault) {
  double iterations = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Decay decay(seed);
    Refiner<3, 20> refiner;
    Eigen::Vector3d x(1.8, 1.2, 0.6);
    const RefineSummary summary = refiner.refine(
        x, [&](const auto& at, auto&& out) { decay.residual(at, out); },
        [&](const auto& at, auto&& out) { decay.jacobian(at, out); });
    EXPECT_TRUE(summary.converged());
    iterations += summary.iterations / 50.0;
  }
  EXPECT_LE(iterations, 7);
}

TEST(Refiner, AllocatesNothing) {
  if (!counts_allocations) GTEST_SKIP() << "a sanitizer has a malloc of its own";
  const Decay decay(2);
  const auto residual = [&](const auto& x, auto&& out) { decay.residual(x, out); };
  const auto jacobian = [&](const auto& x, auto&& out) { decay.jacobian(x, out); };
  // As a user who writes no templates takes them.
  const auto plain = [&](ConstVectorRef<double> x, VectorRef<double> out) {
    decay.residual(x, out);
  };
  RefineOptions options;
  options.covariance = true;
  RefineOptions bounded = options;
  bounded.lower = vec({0, 0, 0.6});
  bounded.loss = RobustLoss::kHuber;
  RefineOptions seeded;
  seeded.seed = Mat::Identity(2, 2) * 0.1;
  Refiner<> dynamic(3, 20);
  Refiner<3, 20> fixed;
  Refiner<> square(2, 2);
  Vec z = vec({1, 1, 1}), root = vec({0.9, 0.9});
  Eigen::Vector3d x(1, 1, 1);
  const int before = allocations;
  for (const RefineOptions* o : {&options, &bounded}) {
    dynamic.refine(z, residual, jacobian, *o);
    dynamic.refine(z, plain, NoJacobian{}, *o);
    fixed.refine(x, residual, NoJacobian{}, *o);
    fixed.refine(x, plain, jacobian, *o);
  }
  square.refine(root, rosenbrock, seeded);
  EXPECT_EQ(allocations, before);
  EXPECT_NEAR(root[0], 1, 1e-9);
}

TEST(Refiner, KeepsItsDigitsWhereTheNormalEquationsLoseThem) {
  // Columns that differ by a millionth: their squares, by less than rounding can tell.
  const Eigen::Matrix<double, 4, 3> a{{1, 1, 0}, {1, 1 + 1e-7, 0}, {1, 1, 1}, {1, 1 - 1e-7, 1}};
  const Eigen::Vector3d truth(1, -2, 3);
  Refiner<3, 4> refiner;
  Eigen::Vector3d x(0, 0, 0);
  refiner.refine(
      x, [&](const auto& at, auto&& out) { out = a * (at - truth); },
      [&](const auto&, auto&& out) { out = a; });
  EXPECT_LT((x - truth).norm(), 1e-6);
}

// ---- Bounds -----------------------------------------------------------------------------------

/// The least |a x - b| with x between the bounds, by trying all choices of who is at which bound.
Vec by_enumeration(const Mat& a, const Vec& b, const Vec& lower, const Vec& upper) {
  const Index n = a.cols();
  Vec best;
  double least = std::numeric_limits<double>::infinity();
  for (int choice = 0; choice < std::pow(3, n); ++choice) {
    Vec x = Vec::Zero(n);
    std::vector<Index> free;
    for (int j = 0, rest = choice; j < n; ++j, rest /= 3) {
      if (rest % 3 == 0) free.push_back(j);
      if (rest % 3 == 1) x[j] = lower[j];
      if (rest % 3 == 2) x[j] = upper[j];
    }
    if (!free.empty()) x(free) = Mat(a(Eigen::all, free)).colPivHouseholderQr().solve(b - a * x);
    const bool feasible =
        (x.array() >= lower.array() - 1e-12).all() && (x.array() <= upper.array() + 1e-12).all();
    if (feasible && (a * x - b).norm() < least) {
      least = (a * x - b).norm();
      best = x;
    }
  }
  return best;
}

TEST(RefineBounds, GiveTheBoundedLeastSquaresAnswer) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const Mat a = normal(8, 4, random);
    const Vec b = 2 * normal(8, 1, random);
    const Vec lower = Vec::Constant(4, -0.3), upper = vec({0.2, 0.5, 0.1, 5});
    const RefineResult result =
        refine(RefineProblem{8, [&](const auto& x, auto&& out) { out = a * x - b; },
                             [&](const auto&, auto&& out) { out = a; }},
               normal(4, 1, random), {.lower = lower, .upper = upper});
    EXPECT_TRUE(result.summary.converged()) << result.summary.brief_report();
    EXPECT_LT((result.x - by_enumeration(a, b, lower, upper)).norm(), 1e-7) << trial;
    EXPECT_TRUE((result.x.array() >= lower.array()).all());
    EXPECT_TRUE((result.x.array() <= upper.array()).all());
  }
}

TEST(RefineBounds, HoldRosenbrockAtTheEdgeOfItsValley) {
  // With x <= 1/2 the valley's floor y = x^2 is best at its end.
  for (const Vec& start : {vec({-1.2, 1}), vec({3, -2}), vec({0.5, 0.25})}) {
    const RefineResult result = refine(rosenbrock, start, {.upper = vec({0.5, 10})});
    EXPECT_TRUE(result.summary.converged()) << result.summary.brief_report();
    EXPECT_EQ(result.x[0], 0.5);
    EXPECT_NEAR(result.x[1], 0.25, 1e-8);
  }
}

TEST(RefineBounds, AreNeverLeftNotEvenToDifferentiate) {
  const RefineProblem rooted{2, [](const auto& x, auto&& out) {
                               EXPECT_GE(x[0], 0);
                               EXPECT_LE(x[0], 1);
                               EXPECT_EQ(x[1], 3);
                               out[0] = std::sqrt(x[0]) + 0.1;
                               out[1] = x[1] - x[0];
                             }};
  const RefineResult result =
      refine(rooted, vec({1, 2}), {.lower = vec({0, 3}), .upper = vec({1, 3})});
  EXPECT_EQ(result.x[1], 3);
  EXPECT_GE(result.x[0], 0);
  // The cost by a fine grid.
  double least = 1e300;
  for (int i = 0; i <= 100000; ++i) {
    const double x = i * 1e-5;
    least = std::min(least, std::pow(std::sqrt(x) + 0.1, 2) / 2 + std::pow(3 - x, 2) / 2);
  }
  EXPECT_NEAR(result.summary.final_cost, least, 1e-8);
}

// ---- Losses -----------------------------------------------------------------------------------

double textbook_rho(RobustLoss loss, double s, double r) {
  const double u = std::abs(r / s);
  switch (loss) {
    case RobustLoss::kNone:
      return r * r;
    case RobustLoss::kHuber:
      return s * s * (u <= 1 ? u * u : 2 * u - 1);
    case RobustLoss::kCauchy:
      return s * s * std::log(1 + u * u);
    case RobustLoss::kTukey:
      return s * s / 3 * (u <= 1 ? 1 - std::pow(1 - u * u, 3) : 1);
  }
  return 0;
}

struct RefineLosses : testing::TestWithParam<RobustLoss> {};

TEST_P(RefineLosses, FitALineAsTryingAllLinesDoes) {
  std::mt19937 random(4);
  constexpr double scale = 0.3;
  Vec t = Vec::LinSpaced(30, -1, 1);
  Vec y = 0.7 * t + Vec::Constant(30, 0.2) + 0.1 * normal(30, 1, random);
  for (Index i = 0; i < 30; i += 6) y[i] += 2 + 0.1 * static_cast<double>(i);  // outliers
  const auto cost = [&](double slope, double offset) {
    double sum = 0;
    for (Index i = 0; i < 30; ++i)
      sum += textbook_rho(GetParam(), scale, slope * t[i] + offset - y[i]) / 2;
    return sum;
  };
  // A grid that closes in on its best point.
  double slope = 0.7, offset = 0.2, width = 1;
  for (; width > 1e-9; width /= 2) {
    double best_slope = slope, best_offset = offset;
    for (int i = -5; i <= 5; ++i)
      for (int j = -5; j <= 5; ++j)
        if (cost(slope + i * width / 5, offset + j * width / 5) < cost(best_slope, best_offset)) {
          best_slope = slope + i * width / 5;
          best_offset = offset + j * width / 5;
        }
    slope = best_slope;
    offset = best_offset;
  }
  const RefineProblem line{
      30, [&](const auto& x, auto&& out) { out = x[0] * t + Vec::Constant(30, x[1]) - y; }};
  const RefineResult result =
      refine(line, vec({0.5, 0.4}), {.loss = GetParam(), .loss_scale = scale});
  EXPECT_TRUE(result.summary.converged()) << result.summary.brief_report();
  EXPECT_LE(result.summary.iterations, 25);
  EXPECT_NEAR(result.x[0], slope, 1e-6);
  EXPECT_NEAR(result.x[1], offset, 1e-6);
  EXPECT_NEAR(result.summary.final_cost, cost(slope, offset), 1e-10);
}

TEST_P(RefineLosses, HaveWeightsAndCurvaturesThatAgreeWithDifferences) {
  for (const double r : {-3.0, -0.61, -0.2, 0.05, 0.3, 0.55, 2.0}) {
    const LossValue at = loss_value(GetParam(), 0.6, r);
    const auto rho = [&](double x) { return textbook_rho(GetParam(), 0.6, x); };
    constexpr double h = 1e-4;
    EXPECT_NEAR(at.rho, rho(r), 1e-12);
    EXPECT_NEAR(at.weight * r, (rho(r + h) - rho(r - h)) / (4 * h), 1e-6);
    EXPECT_NEAR(at.curvature, (rho(r + h) - 2 * rho(r) + rho(r - h)) / (2 * h * h), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, RefineLosses,
                         testing::Values(RobustLoss::kNone, RobustLoss::kHuber, RobustLoss::kCauchy,
                                         RobustLoss::kTukey));

TEST(RefineLoss, IsStuckWhereTukeySeesOutliersOnly) {
  const RefineProblem far{3, [](const auto& x, auto&& out) { out.setConstant(x[0] - 100); }};
  EXPECT_EQ(refine(far, vec({0}), {.loss = RobustLoss::kTukey}).summary.stop, RefineStop::kStuck);
}

// ---- Covariance -------------------------------------------------------------------------------

TEST(RefineCovariance, IsTheTextbooksForALinearProblem) {
  std::mt19937 random(5);
  Mat a = normal(15, 3, random);
  a.col(1) *= 1e5;  // badly scaled
  const Vec b = normal(15, 1, random);
  const auto residual = [&](const auto& x, auto&& out) { out = a * x - b; };
  const Mat inverse = (a.transpose() * a).inverse();
  const Vec x = a.colPivHouseholderQr().solve(b);
  const double variance = (a * x - b).squaredNorm() / (15 - 3);
  const auto off = [&](const Mat& found, const Mat& expected) {
    const Vec sigma = expected.diagonal().cwiseSqrt();
    return ((found - expected).array() / (sigma * sigma.transpose()).array()).abs().maxCoeff();
  };
  const auto jacobian = [&](const auto&, auto&& out) { out = a; };
  const RefineProblem given{15, residual, jacobian};
  const RefineResult result = refine(given, Vec::Zero(3), {.covariance = true});
  EXPECT_EQ(result.summary.rank, 3);
  EXPECT_LT(off(result.covariance, variance * inverse), 1e-9);
  EXPECT_LT(
      off(refine(given, Vec::Zero(3), {.covariance = true, .whitened = true}).covariance, inverse),
      1e-9);
  EXPECT_LT(off(refine(RefineProblem{15, residual}, Vec::Ones(3), {.covariance = true}).covariance,
                variance * inverse),
            1e-5);
  EXPECT_EQ(refine(given, Vec::Zero(3)).covariance.size(), 0);
}

TEST(RefineCovariance, IsTheSpreadOfRepeatedFits) {
  for (const RobustLoss loss : {RobustLoss::kNone, RobustLoss::kHuber}) {
    constexpr int fits = 3000;
    Refiner<3, 20> refiner;
    RefineOptions options;
    options.covariance = true;
    options.loss = loss;
    options.loss_scale = 0.06;
    Mat answers(3, fits), claimed = Mat::Zero(3, 3);
    for (int i = 0; i < fits; ++i) {
      const Decay decay(100 + static_cast<unsigned>(i));
      Eigen::Vector3d x(2, 1.3, 0.5);
      refiner.refine(
          x, [&](const auto& at, auto&& out) { decay.residual(at, out); },
          [&](const auto& at, auto&& out) { decay.jacobian(at, out); }, options);
      answers.col(i) = x;
      claimed += refiner.covariance() / fits;
    }
    answers.colwise() -= answers.rowwise().mean().eval();
    const Mat spread = answers * answers.transpose() / (fits - 1);
    for (Index j = 0; j < 3; ++j) EXPECT_NEAR(claimed(j, j) / spread(j, j), 1, 0.15);
    EXPECT_NEAR(claimed(0, 1) / spread(0, 1), 1, 0.3);
  }
}

TEST(RefineCovariance, IsInfiniteWhereTheDataDoNotDetermineIt) {
  // Only the sum of the two counts.
  const RefineProblem sum{3, [](const auto& x, auto&& out) {
                            out << x[0] + x[1] - 1, x[0] + x[1] - 2, x[0] + x[1] - 3;
                          }};
  const RefineResult deficient = refine(sum, vec({0.3, 0.4}), {.covariance = true});
  EXPECT_EQ(deficient.summary.rank, 1);
  EXPECT_TRUE((deficient.covariance.array() == std::numeric_limits<double>::infinity()).all());
  // No residual is left over that could tell the noise, unless it is known.
  const RefineResult exact = refine(rosenbrock_given, vec({0.5, 0.5}), {.covariance = true});
  EXPECT_EQ(exact.summary.rank, 2);
  EXPECT_TRUE((exact.covariance.array() == std::numeric_limits<double>::infinity()).all());
  Mat j(2, 2);
  j << -20, 10, -1, 0;
  EXPECT_LT((refine(rosenbrock_given, vec({0.5, 0.5}), {.covariance = true, .whitened = true})
                 .covariance -
             (j.transpose() * j).inverse())
                .norm(),
            1e-6);
}

// ---- Broyden ----------------------------------------------------------------------------------

/// h(x) = x + tanh(W x) / 2, n values of n unknowns in a box, with the maps learned for it.
struct Mixed {
  Mat w;
  Cascade<double> cascade;
  explicit Mixed(Index n) {
    std::mt19937 random(6);
    w = normal(n, n, random) / std::sqrt(static_cast<double>(n));
    const Mat states = questions(n, 1500, random);
    Mat measured(n, states.cols());
    for (Index i = 0; i < states.cols(); ++i) measured.col(i) = h(states.col(i));
    TrainOptions options;
    options.stages = 3;
    cascade = train([this](const auto& x, auto&& out) { out = h(x); }, Mat::Zero(n, 1), states,
                    measured, options)
                  .cascade;
  }
  static Mat questions(Index n, Index count, std::mt19937& random) {
    std::uniform_real_distribution<double> draw(-0.8, 0.8);
    return Mat::NullaryExpr(n, count, [&] { return draw(random); });
  }
  Vec h(const Vec& x) const { return x + (w * x).array().tanh().matrix() / 2; }
};

TEST(RefineBroyden, NeedsAFewEvaluationsWhereNumericDerivativesNeedDozens) {
  for (const Index n : {6, 12}) {
    const Mixed mixed(n);
    std::mt19937 random(7);
    const Mat truths = Mixed::questions(n, 200, random);
    RefineOptions options;
    options.residual_tolerance = 1e-8;
    RefineOptions seeded = options;
    seeded.seed = mixed.cascade.maps.back().matrix();
    double broyden = 0, numeric = 0;
    for (Index i = 0; i < truths.cols(); ++i) {
      const Vec y = mixed.h(truths.col(i));
      const RefineProblem problem{n, [&](const auto& x, auto&& out) { out = mixed.h(x) - y; }};
      const Vec start =
          solve(
              mixed.cascade, [&](const auto& x, auto&& out) { out = mixed.h(x); }, Vec::Zero(n), y)
              .x;
      const RefineResult result = refine(problem, start, seeded);
      EXPECT_EQ(result.summary.stop, RefineStop::kResidual) << result.summary.brief_report();
      EXPECT_EQ(result.summary.method, RefineMethod::kBroyden);
      EXPECT_EQ(result.summary.jacobian_evaluations, 0);
      EXPECT_LT((result.x - truths.col(i)).norm(), 1e-7);
      broyden += result.summary.evaluations / 200.0;
      numeric += refine(problem, start, options).summary.evaluations / 200.0;
    }
    RecordProperty("broyden_" + std::to_string(n), std::to_string(broyden));
    RecordProperty("numeric_" + std::to_string(n), std::to_string(numeric));
    EXPECT_LE(broyden, 6.7);
    EXPECT_GE(numeric, (n == 6 ? 4 : 6) * broyden);
  }
}

TEST(RefineBroyden, ConvergesByItsStepWhereNoResidualIsAskedFor) {
  const Mixed mixed(6);
  const Vec truth = Vec::Constant(6, 0.3), y = mixed.h(truth);
  RefineOptions options;
  options.seed = mixed.cascade.maps.back().matrix();
  const RefineResult result =
      refine(RefineProblem{6, [&](const auto& x, auto&& out) { out = mixed.h(x) - y; }},
             Vec::Constant(6, 0.25), options);
  EXPECT_TRUE(result.summary.converged());
  EXPECT_EQ(result.summary.method, RefineMethod::kBroyden);
  EXPECT_LT((result.x - truth).norm(), 1e-10);
}

TEST(RefineBroyden, HandsOverToDerivativesWhereTheSeedIsWrong) {
  for (const double wrong : {0.0, -1.0, 1e-14, 50.0}) {
    RefineOptions options;
    options.seed = wrong * Mat::Identity(2, 2);
    const RefineResult result = refine(rosenbrock, vec({-1.2, 1}), options);
    EXPECT_TRUE(result.summary.converged()) << result.summary.brief_report();
    EXPECT_NEAR(result.x[0], 1, 1e-9);
    EXPECT_NEAR(result.x[1], 1, 1e-9);
  }
}

TEST(RefineBroyden, EndsAtTheLeastSquaresAnswerOfMoreResidualsThanUnknowns) {
  std::mt19937 random(8);
  const Mat a = normal(9, 3, random);
  const Vec b = normal(9, 1, random);
  RefineOptions options;
  options.method = RefineMethod::kBroyden;
  options.seed = 0.9 * (a.transpose() * a).inverse() * a.transpose();
  const RefineResult result = refine(
      RefineProblem{9, [&](const auto& x, auto&& out) { out = a * x - b; }}, Vec::Zero(3), options);
  EXPECT_TRUE(result.summary.converged()) << result.summary.brief_report();
  EXPECT_LT((result.x - a.colPivHouseholderQr().solve(b)).norm(), 1e-8);
}

TEST(RefineBroyden, IsLeftAloneWhereThereIsAJacobianOrNoSeed) {
  EXPECT_EQ(refine(rosenbrock_given, vec({0.9, 0.9}), {.seed = Mat::Identity(2, 2)}).summary.method,
            RefineMethod::kLevenbergMarquardt);
  EXPECT_EQ(refine(rosenbrock, vec({0.9, 0.9})).summary.method, RefineMethod::kLevenbergMarquardt);
}

}  // namespace
}  // namespace sdm
