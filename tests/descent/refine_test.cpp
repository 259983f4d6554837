#include "sdm/descent/refine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <limits>

#include "sdm/base/error.h"

namespace sdm {
namespace {

using Vec = Vector<double>;
using Mat = Matrix<double>;

Vec vec(std::initializer_list<double> values) {
  Vec v(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), v.data());
  return v;
}

RefineProblem rosenbrock() {
  return {.residual_size = 2, .residual = [](ConstVectorRef<double> x, VectorRef<double> out) {
            out[0] = 10 * (x[1] - x[0] * x[0]);
            out[1] = 1 - x[0];
          }};
}

void rosenbrock_jacobian(ConstVectorRef<double> x, Eigen::Ref<Mat> out) {
  out << -20 * x[0], 10, -1, 0;
}

TEST(Refine, FindsTheMinimumOfRosenbrockWithANumericJacobian) {
  const RefineResult result = refine(rosenbrock(), vec({-1.2, 1}));
  EXPECT_TRUE(result.summary.converged()) << result.summary.brief_report();
  EXPECT_NEAR(result.x[0], 1, 1e-12);
  EXPECT_NEAR(result.x[1], 1, 1e-12);
}

TEST(Refine, AGivenJacobianSavesEvaluations) {
  RefineProblem given = rosenbrock();
  given.jacobian = rosenbrock_jacobian;
  const RefineResult result = refine(given, vec({-1.2, 1}));
  EXPECT_NEAR(result.x[0], 1, 1e-12);
  EXPECT_LT(result.summary.evaluations, refine(rosenbrock(), vec({-1.2, 1})).summary.evaluations);
}

TEST(Refine, SolvesALinearProblemAsItsQrDoes) {
  const Mat a = Mat::Random(12, 4);
  const Vec b = Vec::Random(12);
  const RefineResult result =
      refine({.residual_size = 12,
              .residual = [&](ConstVectorRef<double> x, VectorRef<double> out) { out = a * x - b; },
              .jacobian = [&](ConstVectorRef<double>, Eigen::Ref<Mat> out) { out = a; }},
             Vec::Zero(4));
  const Vec expected = a.colPivHouseholderQr().solve(b);
  EXPECT_LT((result.x - expected).norm(), 1e-12 * expected.norm());
}

// Meyer's function (MGH10): the columns of the Jacobian differ by seven orders of magnitude. Data
// and certified values from NIST StRD; the start is NIST's second.
TEST(Refine, ReachesTheCertifiedDigitsOfABadlyScaledProblem) {
  const Vec y = vec({34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147,
                     4427, 3820, 3307, 2872});
  for (const bool numeric : {true, false}) {
    RefineProblem meyer = {
        .residual_size = 16, .residual = [&](ConstVectorRef<double> b, VectorRef<double> out) {
          for (Index i = 0; i < 16; ++i)
            out[i] = b[0] * std::exp(b[1] / (50 + 5. * static_cast<double>(i) + b[2])) - y[i];
        }};
    if (!numeric)
      meyer.jacobian = [](ConstVectorRef<double> b, Eigen::Ref<Mat> out) {
        for (Index i = 0; i < 16; ++i) {
          const double q = 50 + 5. * static_cast<double>(i) + b[2], e = std::exp(b[1] / q);
          out.row(i) << e, b[0] * e / q, -b[0] * e * b[1] / (q * q);
        }
      };
    const RefineResult result = refine(meyer, vec({0.02, 4000, 250}));
    const Vec certified = vec({5.6096364710e-3, 6.1813463463e3, 3.4522363462e2});
    EXPECT_LT(((result.x - certified).array() / certified.array()).abs().maxCoeff(), 1e-8)
        << result.summary.brief_report();
    EXPECT_NEAR(2 * result.summary.final_cost, 8.7945855171e1, 1e-8);
  }
}

TEST(Refine, MovesStatesOnAManifoldByTheirStep) {
  // A unit vector turned by an angle until it points at the target.
  const Vec target = vec({std::cos(2.0), std::sin(2.0)});
  const RefineProblem turn = {
      .residual_size = 2,
      .residual = [&](ConstVectorRef<double> x, VectorRef<double> out) { out = x - target; },
      .step =
          [](ConstVectorRef<double> x, ConstVectorRef<double> delta, VectorRef<double> out) {
            const double c = std::cos(delta[0]), s = std::sin(delta[0]);
            out = vec({c * x[0] - s * x[1], s * x[0] + c * x[1]});
          },
      .delta_size = 1};
  const RefineResult result = refine(turn, vec({1, 0}));
  EXPECT_LT((result.x - target).norm(), 1e-10) << result.summary.brief_report();
  EXPECT_NEAR(result.x.norm(), 1, 1e-12);
}

TEST(Refine, StepsBackFromWhereTheResidualIsNotFinite) {
  const RefineProblem root = {
      .residual_size = 1, .residual = [](ConstVectorRef<double> x, VectorRef<double> out) {
        out[0] = std::log(x[0]) + 3;  // a full Gauss-Newton step from 100 lands at a negative x
      }};
  EXPECT_NEAR(refine(root, vec({100})).x[0], std::exp(-3.0), 1e-12);
}

TEST(Refine, DifferentiatesWhereACoordinateIsZero) {
  const RefineProblem shifted = {.residual_size = 2,
                                 .residual = [](ConstVectorRef<double> x, VectorRef<double> out) {
                                   out[0] = std::exp(x[0]) - 2;
                                   out[1] = x[1] - x[0];
                                 }};
  const RefineResult result = refine(shifted, vec({0, 0}));
  EXPECT_NEAR(result.x[0], std::log(2.0), 1e-12);
  EXPECT_NEAR(result.x[1], std::log(2.0), 1e-12);
}

TEST(Refine, LeavesASolutionWhereItIs) {
  const RefineResult result = refine(rosenbrock(), vec({1, 1}));
  EXPECT_EQ(result.x, vec({1, 1}));
  EXPECT_EQ(result.summary.stop, RefineStop::kGradient);
  EXPECT_EQ(result.summary.iterations, 0);
}

TEST(Refine, StopsAtTheLimitOfEvaluationsAndNeverGivesAWorsePoint) {
  RefineProblem problem = rosenbrock();
  problem.jacobian = rosenbrock_jacobian;
  double last = std::numeric_limits<double>::infinity();
  for (int limit = 1; limit < 12; ++limit) {
    const RefineSummary summary =
        refine(problem, vec({-1.2, 1}), {.max_evaluations = limit}).summary;
    EXPECT_EQ(summary.stop, RefineStop::kEvaluations);
    EXPECT_EQ(summary.evaluations, limit);
    EXPECT_LE(summary.final_cost, last);
    last = summary.final_cost;
  }
}

TEST(Refine, SaysWhyItStopped) {
  const std::string report = refine(rosenbrock(), vec({-1.2, 1})).summary.brief_report();
  EXPECT_THAT(report, testing::HasSubstr("converged"));
  EXPECT_THAT(report, testing::HasSubstr("evaluations"));
  EXPECT_THAT(refine(rosenbrock(), vec({-1.2, 1}), {.max_evaluations = 1}).summary.brief_report(),
              testing::HasSubstr("stopped: evaluations"));
}

TEST(Refine, RefusesWhatMakesNoSense) {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(refine({}, vec({1})), Error);
  EXPECT_THROW(refine(rosenbrock(), Vec()), Error);
  EXPECT_THROW(refine(rosenbrock(), vec({nan, 1})), Error);
  EXPECT_THROW(refine(rosenbrock(), vec({1, 1}), {.max_evaluations = 0}), Error);
  EXPECT_THROW(refine(rosenbrock(), vec({1, 1}), {.difference_step = 0}), Error);
  EXPECT_THROW(refine(rosenbrock(), vec({1, 1}), {.step_tolerance = nan}), Error);
  RefineProblem half = rosenbrock();
  half.delta_size = 1;  // without a step function
  EXPECT_THROW(refine(half, vec({1, 1})), Error);
  RefineProblem broken = rosenbrock();
  broken.residual = [&](ConstVectorRef<double>, VectorRef<double> out) { out.setConstant(nan); };
  EXPECT_THROW(refine(broken, vec({1, 1})), Error);
  RefineProblem bad_jacobian = rosenbrock();
  bad_jacobian.jacobian = [&](ConstVectorRef<double>, Eigen::Ref<Mat> out) {
    out.setConstant(nan);
  };
  EXPECT_THROW(refine(bad_jacobian, vec({2, 1})), Error);
}

}  // namespace
}  // namespace sdm
