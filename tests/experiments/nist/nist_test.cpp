#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "experiments/nist/learned.h"
#include "experiments/nist/problem.h"
#include "experiments/registry.h"
#include "sdm/base/error.h"
#include "tests/temporary_folder.h"

namespace sdm::experiments {
namespace {

using testing::HasSubstr;

class NistFile : public testing::Test {
 protected:
  /// A file of NIST's shape around a problem of two parameters.
  std::filesystem::path write_file(const std::string& name, const std::string& b2,
                                   const std::string& data) {
    return folder_.write(name + ".dat",
                         "NIST/ITL StRD\r\n\r\nData:          1 Response\r\n"
                         "  b1 =   500  250  2.5E+02  2.7E+00\r\n" +
                             b2 + "\r\nResidual Sum of Squares:   1.5E-01\r\nData:   y   x\r\n" +
                             data);
  }
  TemporaryFolder folder_;
};

const char* const good_b2 = "  b2 =  0.0001  0.0005  5.0E-04  7.2E-06";

TEST_F(NistFile, GivesStartsCertifiedValuesAndData) {
  const NistProblem p =
      read_nist(write_file("Misra1a", good_b2, " 10.07E0 77.6E0\r\n 14.73E0 114.9E0\r\n"));
  EXPECT_EQ(p.observations(), 2);
  EXPECT_EQ(p.starts[0][0], 500);
  EXPECT_EQ(p.starts[1][1], 0.0005);
  EXPECT_EQ(p.certified[0], 250);
  EXPECT_EQ(p.certified_rss, 0.15);
  EXPECT_EQ(p.y[1], 14.73);
  EXPECT_EQ(p.x(0, 0), 77.6);
  EXPECT_NEAR(p.values(p.certified)[0], 250 * (1 - std::exp(-5e-4 * 77.6)), 1e-12);
}

TEST_F(NistFile, ErrorsNameFileAndLine) {
  const auto message = [](const std::filesystem::path& path) -> std::string {
    try {
      read_nist(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message(write_file("Misra1a", "  b2 =  0.0001", "1 2\n")),
              HasSubstr("Misra1a.dat:5"));
  EXPECT_THAT(message(write_file("Misra1a", good_b2, "")), HasSubstr("no data"));
  EXPECT_THAT(message(write_file("Misra1a", good_b2, "1 2\n3\n")), HasSubstr("observation 2"));
  EXPECT_THAT(message(write_file("Misra1a", good_b2, "1 2 3\n")),
              HasSubstr("3 numbers, expected 2"));
  EXPECT_THAT(message(write_file("Nelson", std::string(good_b2) + "\r\n  b3 = 1 2 3 4", "1 2\n")),
              HasSubstr("2 numbers, expected 3"));
  EXPECT_THAT(message(write_file("Misra9", good_b2, "1 2\n")), HasSubstr("Misra9"));
  EXPECT_THAT(message("no/such/Misra1a.dat"), HasSubstr("cannot be opened"));
}

TEST(NistModels, AreTwentySevenWithDerivativesThatAgreeWithDifferences) {
  EXPECT_EQ(nist_models().size(), 27U);
  const Matrix<double> x = (Matrix<double>(2, 3) << 0.3, 0.7, 1.4, 0.2, 0.5, 0.9).finished();
  for (const NistModel& model : nist_models()) {
    Vector<double> beta(model.parameters);
    for (Index j = 0; j < beta.size(); ++j) beta[j] = 0.6 + 0.13 * static_cast<double>(j);
    Matrix<double> jacobian(3, model.parameters);
    model.jacobian(x, beta.data(), jacobian.data());
    for (Index j = 0; j < beta.size(); ++j) {
      constexpr double h = 1e-6;
      Vector<double> up = beta, down = beta, high(3), low(3);
      up[j] += h;
      down[j] -= h;
      model.values(x, up.data(), high.data());
      model.values(x, down.data(), low.data());
      const Vector<double> numeric = (high - low) / (2 * h);
      EXPECT_LT((jacobian.col(j) - numeric).norm(), 1e-7 * (1 + numeric.norm()))
          << model.name << " b" << j + 1;
    }
  }
}

TEST(CertifiedDigits, CountTheWorstParameterUpToEleven) {
  NistProblem p;
  p.certified = Vector<double>::Constant(2, 100);
  EXPECT_EQ(p.certified_digits(p.certified), 11);
  EXPECT_NEAR(p.certified_digits(Vector<double>{{100.1, 100}}), 3, 1e-9);
  EXPECT_EQ(p.certified_digits(Vector<double>{{300, 100}}), 0);
  EXPECT_EQ(p.certified_digits(Vector<double>{{std::nan(""), 100}}), 0);
}

class NistData : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder)) {
      std::puts("skipped: needs ../shared/data");
      GTEST_SKIP();
    }
  }
  const std::filesystem::path folder = std::filesystem::path(SDM_SHARED_DATA) / "nls";
};

TEST_F(NistData, CertifiedValuesGiveTheCertifiedSumOfSquares) {
  for (const NistModel& model : nist_models()) {
    const NistProblem p = read_nist(folder / (model.name + ".dat"));
    // Lanczos1 is exact to thirteen digits of y: eleven digits of b cannot give its last ones.
    EXPECT_NEAR(p.rss(p.certified), p.certified_rss, 1e-9 * p.certified_rss + 1e-20) << model.name;
  }
}

TEST_F(NistData, TheBoxHoldsBothStartsAndTheAnswer) {
  for (const NistModel& model : nist_models()) {
    const NistProblem p = read_nist(folder / (model.name + ".dat"));
    const Box box = parameter_box(p);
    Vector<double> u(p.parameters());
    for (const Vector<double>& beta : {p.starts[0], p.starts[1], p.certified}) {
      EXPECT_TRUE(box.contains(beta)) << model.name;
      box.to_unit(beta, u);
      EXPECT_LT(u.cwiseAbs().maxCoeff(), 0.95) << model.name;
    }
  }
}

TEST_F(NistData, LearnedMapsComeCloserThanTheirStartAndRefineFindsTheDigits) {
  const NistProblem p = read_nist(folder / "Rat42.dat");
  LearnOptions options;
  options.samples = options.calibration = 500;
  const Learned learned = learn_nist(p, p.starts[0], options);
  const Answer answer = learned.solve(p.y, maps_alone());
  EXPECT_LT(p.rss(answer.x), 0.05 * p.rss(p.starts[0]));
  EXPECT_GE(p.certified_digits(learned.solve(p.y, all_digits()).x), 8);
  EXPECT_EQ(learn_nist(p, p.starts[0], options).solve(p.y, maps_alone()).x, answer.x);  // one seed
}

}  // namespace
}  // namespace sdm::experiments
