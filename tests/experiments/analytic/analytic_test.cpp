#include "experiments/analytic/analytic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiments/registry.h"

namespace sdm::experiments {
namespace {

const AnalyticFunction& function(const std::string& name) {
  for (const AnalyticFunction& f : analytic_functions())
    if (f.name == name) return f;
  throw std::runtime_error("no function " + name);
}

std::vector<double> sdm_curve(const std::string& name) {
  const AnalyticFunction& f = function(name);
  return sdm_residuals(f, train_reversed(f, 0, 10), 0, f.test_y);
}

void expect_printed(const std::vector<double>& curve, const std::vector<double>& printed,
                    double last_digit) {
  ASSERT_GE(curve.size(), printed.size());
  for (std::size_t k = 0; k < printed.size(); ++k)
    EXPECT_NEAR(curve[k], printed[k], 0.5000001 * last_digit) << "step " << k;
}

// An independent double-precision re-run of the paper's set-up, start x0 = 0, four decimals.
TEST(ReversedSdm, AgreesWithAnIndependentRunOnTheFourFunctions) {
  expect_printed(sdm_curve("sin"),
                 {1, .1622, .0714, .0611, .0448, .0418, .0332, .0319, .0264, .0258}, 1e-4);
  expect_printed(sdm_curve("cube"),
                 {1, .2865, .2027, .1344, .1065, .0807, .0682, .0551, .0486, .0407}, 1e-4);
  expect_printed(sdm_curve("erf"),
                 {1, .2255, .1270, .1064, .0855, .0759, .0641, .0580, .0502, .0459}, 1e-4);
  expect_printed(sdm_curve("exp"),
                 {1, .2626, .1995, .1186, .0952, .0615, .0516, .0347, .0299, .0210}, 1e-4);
}

TEST(Newton, AgreesWithAnIndependentRun) {
  const auto curve = [](const char* name) {
    return newton_residuals(function(name), 10, 0, function(name).test_y);
  };
  expect_printed(curve("sin"), {1, .2222, .1215, .0751, .0492, .0327, .0218, .0145, .0097, .0065},
                 1e-4);
  expect_printed(curve("erf"), {1, .333, .214, .141, .092}, 1e-3);
  EXPECT_NEAR(curve("erf")[5], .0565, 0.5e-4);
  EXPECT_NEAR(curve("erf")[6], .0302, 0.5e-4);
  EXPECT_NEAR(curve("erf")[7], .0120, 0.5e-4);
  EXPECT_NEAR(curve("erf")[8], .0025, 0.5e-4);
  EXPECT_NEAR(curve("erf")[9], 1.4e-4, 0.5e-5);
  expect_printed(curve("exp"), {1, 1.43, 1.81}, 1e-2);
  EXPECT_NEAR(curve("exp")[9], 4.47, 0.5e-2);
  for (double residual : curve("cube")) EXPECT_DOUBLE_EQ(residual, 1);  // a saddle point
}

// Figures published with another implementation (superviseddescent, single precision), x0 = 0.5.
// Its rounding adds up over ten steps, most of all where sin is flat.
TEST(ReversedSdm, AgreesWithThePublishedValuesOfAnotherImplementation) {
  struct Published {
    const char* name;
    double train_1, test_1, train_10, test_10;
  };
  for (const Published& p : {Published{"sin", .213699, .180010, .040279, .026157},
                             Published{"cube", .344166, .353429, .043127, .058899},
                             Published{"erf", .309442, .257360, .069511, .046327},
                             Published{"exp", .199523, .192457, .025109, .012535}}) {
    const AnalyticFunction& f = function(p.name);
    const Cascade<double> cascade = train_reversed(f, 0.5, 10);
    const auto train = sdm_residuals(f, cascade, 0.5, f.train_y);
    const auto test = sdm_residuals(f, cascade, 0.5, f.test_y);
    EXPECT_NEAR(train[1], p.train_1, 1e-3 * p.train_1) << p.name;
    EXPECT_NEAR(test[1], p.test_1, 1e-3 * p.test_1) << p.name;
    EXPECT_NEAR(train[10], p.train_10, 3e-3 * p.train_10) << p.name;
    EXPECT_NEAR(test[10], p.test_10, 3e-3 * p.test_10) << p.name;
  }
}

TEST(AnalyticExperiment, GenericMapsBringEveryStartCloserAtEveryStep) {
  const Results results = run_analytic({});
  EXPECT_TRUE(std::ranges::any_of(
      results.exhibits, [](const Exhibit& exhibit) { return exhibit.name == "generic_maps"; }));
  double last = 0;
  int steps = 0;
  for (const auto& row : results.rows()) {
    if (row.method != "generic_map") continue;
    if (row.extra.at("step") > 0) {
      EXPECT_LE(row.value, last * (1 + 1e-12)) << row.case_name;
      ++steps;
    }
    last = row.value;
    if (row.extra.at("step") == 30) {
      EXPECT_LT(row.value, 0.05) << row.case_name;
    }
  }
  EXPECT_EQ(steps, 3 * 9 * 30);
  for (const char* name : {"sin", "cube", "erf", "exp"})
    for (int step = 0; step <= 10; ++step)
      for (const char* method : {"sdm", "newton"})
        EXPECT_NE(results.find(name, method, "residual", "step", step), nullptr);
}

}  // namespace
}  // namespace sdm::experiments
