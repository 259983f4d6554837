#include <gtest/gtest.h>

#include <cmath>

#include "adapters/peers/fit_cases.h"
#include "experiments/fits/quality.h"
#include "experiments/fits/units.h"
#include "experiments/registry.h"

namespace sdm::experiments {
namespace {

using peers::FitCase;

Vector<double> values_of(const FitCase& fit, const Vector<double>& x) {
  Block<double> values(fit.features, 1);
  Vector<double> scratch(x.size() + fit.features);
  fit.h(Block<double>(x), values, scratch);
  return values.col(0);
}

TEST(FitCases, HaveDerivativesThatAgreeWithDifferences) {
  for (const FitCase& fit : peers::fit_cases()) {
    const Vector<double> x = peers::draw_fits(fit, 1, 1, 3).truth.col(0);
    Matrix<double> jacobian(fit.features, x.size());
    fit.h.jacobian()(x, jacobian);
    for (Index j = 0; j < x.size(); ++j) {
      const double step = 1e-6 * (1e-3 + std::abs(x[j]));
      Vector<double> up = x, down = x;
      up[j] += step;
      down[j] -= step;
      const Vector<double> numeric =
          (values_of(fit, up) - values_of(fit, down)) / (up[j] - down[j]);
      EXPECT_LT((jacobian.col(j) - numeric).norm(), 1e-6 * numeric.norm()) << fit.name << " " << j;
    }
  }
}

TEST(FitCases, GiveABlockTheValuesOfItsColumns) {
  for (const FitCase& fit : peers::fit_cases()) {
    const Matrix<double> x = peers::draw_fits(fit, 70, 1, 4).truth;  // more than one block
    Block<double> values(fit.features, x.cols());
    Vector<double> scratch(x.rows() + fit.features);
    fit.h(Block<double>(x), values, scratch);
    for (Index i = 0; i < x.cols(); ++i) {
      const Vector<double> single = values_of(fit, x.col(i));
      EXPECT_LT((values.col(i) - single).norm(), 1e-12 * single.norm()) << fit.name;
    }
  }
}

// The figure of Gpufit's authors: 2 pi 500 / 4.292^2 / 10.
TEST(FitCases, HaveThePublishedNoiseOfTheSmallPeak) {
  EXPECT_NEAR(peers::fit_cases().front().noise.sigma()[0], 17.05, 0.005);
}

TEST(FitCases, DrawTruthsFromTheBoxAndFromWiderOnes) {
  for (const FitCase& fit : peers::fit_cases())
    for (const double range : {1.0, 2.0}) {
      const peers::FitSamples samples = peers::draw_fits(fit, 400, range, 5);
      double widest = 0;
      Vector<double> u(fit.box.size());
      for (Index i = 0; i < samples.truth.cols(); ++i) {
        fit.box.to_unit(samples.truth.col(i), u);
        widest = std::max(widest, u.cwiseAbs().maxCoeff());
      }
      EXPECT_LE(widest, range * (1 + 1e-9)) << fit.name;
      EXPECT_GT(widest, 0.95 * range) << fit.name;
    }
}

TEST(FitCases, StartInsideTheBox) {
  for (const FitCase& fit : peers::fit_cases()) {
    const Matrix<double> y = peers::draw_fits(fit, 50, 1, 6).y;
    const peers::FitStart start = fit.start_on(y);
    Vector<double> x(fit.box.size());
    for (Index i = 0; i < y.cols(); ++i) {
      start(i, x);
      EXPECT_TRUE(fit.box.contains(x)) << fit.name;
    }
  }
}

// The deviation of many best fits: an efficient estimate reaches the bound where noise is small.
TEST(StandardErrors, AreWhatBestFitsScatterBy) {
  const FitCase fit = peers::fit_cases()[4];
  ASSERT_EQ(fit.name, "decay/1e-3");
  const Vector<double> truth = fit.box.centre();
  Matrix<double> y(fit.features, 2000);
  for (Index i = 0; i < y.cols(); ++i) {
    Random random(7, "test", static_cast<std::uint64_t>(i));
    y.col(i) = values_of(fit, truth);
    fit.noise.add(y.col(i), random);
  }
  peers::FitAnswers best;
  fit.reference.solve(
      y, [&](Index, VectorRef<double> x) { x = truth; }, best);
  const Matrix<double> bound = peers::standard_errors(fit, truth);
  for (Index j = 0; j < truth.size(); ++j) {
    const double scatter =
        std::sqrt((best.x.row(j).array() - truth[j]).square().sum() / double(y.cols()));
    EXPECT_NEAR(scatter / bound(j, 0), 1, 0.06) << j;
  }
}

TEST(Peers, FindTheBestFitFromTheSameStart) {
  for (const FitCase& fit : peers::fit_cases()) {
    if (fit.name == "lifetime") continue;  // where they do not always
    const peers::FitSamples samples = peers::draw_fits(fit, 40, 1, 8);
    peers::FitAnswers best, answers;
    fit.reference.solve(
        samples.y, [&](Index i, VectorRef<double> x) { x = samples.truth.col(i); }, best);
    const Matrix<double> errors = peers::standard_errors(fit, samples.truth);
    for (const peers::FitPeer& peer : fit.peers) {
      peer.solve(samples.y, fit.start_on(samples.y), answers);
      EXPECT_LT(((answers.x - best.x).array() / errors.array()).abs().maxCoeff(), 0.1)
          << fit.name << " " << peer.name;
      EXPECT_GT(answers.evaluations, samples.y.cols());
    }
  }
}

TEST(Quality, CallsWrongWhatIsFiveStandardErrorsOffInAnyParameter) {
  const Vector<double> truth{{1, 10}}, error{{0.1, 2}};
  EXPECT_FALSE(is_wrong(Vector<double>{{1.49, 0.1}}, truth, error));
  EXPECT_TRUE(is_wrong(Vector<double>{{1.51, 10}}, truth, error));
  EXPECT_TRUE(is_wrong(Vector<double>{{1, -0.1}}, truth, error));
  EXPECT_TRUE(is_wrong(Vector<double>{{std::nan(""), 10}}, truth, error));
}

TEST(Quality, CountsASilentWrongAnswerOnlyWhereItIsAccepted) {
  const Matrix<double> truth = Matrix<double>::Zero(1, 4), errors = Matrix<double>::Ones(1, 4);
  const Matrix<double> answers = (Matrix<double>(1, 4) << 1, 9, 9, -1).finished();
  const Matrix<double> best = (Matrix<double>(1, 4) << 1, 1, -1, 1).finished();
  const FitQuality quality = judge_fits(answers, {true, true, false, false}, best, truth, errors);
  EXPECT_DOUBLE_EQ(quality.wrong_percent, 50);
  EXPECT_DOUBLE_EQ(quality.silent_wrong_percent, 25);
  EXPECT_DOUBLE_EQ(quality.refused_percent, 50);
  EXPECT_DOUBLE_EQ(quality.rmse_ratio, std::sqrt(41.0));  // (1 + 81 + 81 + 1) / 4
  EXPECT_DOUBLE_EQ(quality.median_ratio, 9);              // the larger of the two in the middle
}

TEST(Units, DoNotChangeTheError) {
  const FitCase fit = peers::fit_cases()[5];
  LearnOptions options = fit.learn_options();
  options.samples = options.calibration = 1000;
  for (const RefineWhen when : {RefineWhen::kNever, RefineWhen::kAlways}) {
    LearnedSolveOptions solve_options;
    solve_options.refine = when;
    for (const UnitChange& change : unit_changes())
      EXPECT_LT(error_change_percent(fit, change, options, solve_options), 1) << change.name;
  }
}

TEST(FitsExperiment, HasARowForEveryCaseRangeMethodAndMetric) {
  ExperimentContext context;
  context.quick = true;
  const Results results = run_fits(context);
  std::vector<std::string> methods = {"sdm", "sdm_refined"};
  const std::vector<FitCase> cases = peers::fit_cases();
  for (const peers::FitPeer& peer : cases.front().peers) methods.push_back(peer.name);
  for (const char* name :
       {"gauss5", "gauss11", "t2", "lifetime", "decay/1e-3", "decay/1e-2", "decay/2e-2"}) {
    EXPECT_NE(results.find(name, "sdm", "train_seconds"), nullptr) << name;
    for (const char* range : {"", "/range1.5", "/range2"})
      for (const std::string& method : methods)
        for (const char* metric : {"fits_per_second", "rmse_ratio", "median_ratio",
                                   "silent_wrong_percent", "refused_percent", "evaluations"}) {
          const Results::Row* row = results.find(std::string(name) + range, method, metric);
          ASSERT_NE(row, nullptr) << name << range << " " << method << " " << metric;
          EXPECT_GE(row->value, 0);
        }
    EXPECT_LT(results.find(name, "sdm", "silent_wrong_percent")->value, 1) << name;
    EXPECT_LT(results.find(name, "sdm", "median_ratio")->value, 1.2) << name;
  }
  EXPECT_LT(results.find("units", "sdm", "error_change_percent")->value, 1);
}

}  // namespace
}  // namespace sdm::experiments
