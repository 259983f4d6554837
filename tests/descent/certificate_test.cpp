#include "sdm/descent/certificate.h"

#include <gmock/gmock.h>

#include <cmath>

#include "sdm/base/error.h"

namespace sdm {
namespace {

Vector<double> around(double x_star, double radius, Index count) {
  return Vector<double>::LinSpaced(count, x_star - radius, x_star + radius);
}

// x_n after the update of the paper's Eq. (4).
double iterate(double x, double r, auto h, double y, int steps) {
  for (int k = 0; k < steps; ++k) x -= r * (h(x) - y);
  return x;
}

TEST(GenericMap1d, IsTwoOverKMinusEpsilonWithTheSignOfTheSlope) {
  // |sin x - sin 0| <= |x|, so K tends to 1 near 0.
  const auto rising = [](double x) { return std::sin(x); };
  EXPECT_NEAR(generic_map_1d(rising, 0, around(0, 1e-4, 101), 0.1), 1.9, 1e-6);
  const auto falling = [](double x) { return -3 * x; };
  EXPECT_NEAR(generic_map_1d(falling, 2, around(2, 1, 100), 0.01), -(2.0 / 3 - 0.01), 1e-12);
}

TEST(GenericMap1d, ConvergesFromEveryStartWhereBothConditionsHold) {
  const auto h = [](double x) { return std::exp(x); };
  const double x_star = 1;
  const Vector<double> samples = around(x_star, 1.5, 301);
  const double r = generic_map_1d(h, x_star, samples, 1e-3);
  for (const double x0 : samples) {
    EXPECT_NEAR(iterate(x0, r, h, h(x_star), 400), x_star, 1e-6) << "from " << x0;
  }
}

TEST(GenericMap1d, BeyondTheBoundItDivergesSoTheBoundIsTight) {
  const auto linear = [](double x) { return 2 * x; };
  const double r = generic_map_1d(linear, 0, around(0, 1, 101), 0.01);  // 0.01 below the bound
  EXPECT_LT(std::abs(iterate(1, r, linear, 0, 400)), 1e-3);
  EXPECT_GT(std::abs(iterate(1, r + 0.02, linear, 0, 400)), 10);
}

TEST(GenericMap1d, SaysThatTheMonotoneConditionFails) {
  const auto h = [](double x) { return x * x; };
  try {
    generic_map_1d(h, 0.5, around(0.5, 1, 40), 0.01);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("not strictly monotone"));
  }
  EXPECT_NO_THROW(generic_map_1d(h, 0.5, around(0.5, 0.4, 40), 0.01));
}

TEST(GenericMap1d, SaysThatTheLipschitzConditionFails) {
  const auto jump = [](double x) { return x > 0 ? std::numeric_limits<double>::infinity() : x; };
  EXPECT_THROW(generic_map_1d(jump, -1, around(-1, 2, 41), 0.01), Error);
}

TEST(GenericMap1d, RejectsAnEpsilonOutsideZeroToTwoOverK) {
  const auto h = [](double x) { return 4 * x; };
  EXPECT_THROW(generic_map_1d(h, 0, around(0, 1, 11), 0.5), Error);
  EXPECT_THROW(generic_map_1d(h, 0, around(0, 1, 11), 0), Error);
}

// A smooth map of the plane, close to a rotation and scaling of it.
const auto bent = [](const auto& x, auto&& out) {
  out[0] = 2 * x[0] + 0.2 * std::sin(x[1]);
  out[1] = 1.5 * x[1] + 0.2 * x[0] * x[0];
  out[2] = 0.1 * x[0] * x[1];
};

Matrix<double> disc(const Vector<double>& centre, double radius) {
  Matrix<double> samples(2, 400);
  for (Index i = 0; i < samples.cols(); ++i) {
    const double r = radius * std::sqrt((static_cast<double>(i % 20) + 1) / 20);
    const double angle = 2 * M_PI * static_cast<double>(i) * 0.381966;
    samples.col(i) = centre + r * Eigen::Vector2d(std::cos(angle), std::sin(angle));
  }
  return samples;
}

TEST(Certificate, WhereItGuaranteesConvergenceTheMeasuredContractionIsBelowOne) {
  const Vector<double> x_star = Eigen::Vector2d(0.3, -0.2);
  Matrix<double> r(2, 3);
  r << 1, 0, 0, 0, 1, 0;
  const Certificate whole = certify(r, bent, x_star, disc(x_star, 1));
  ASSERT_TRUE(whole.monotone);
  const Certificate scaled = certify(0.99 * whole.safe_scale() * r, bent, x_star, disc(x_star, 1));
  EXPECT_TRUE(scaled.guaranteed) << scaled.brief_report();
  EXPECT_LT(scaled.contraction, 1);

  Vector<double> x = Eigen::Vector2d(1.0, 0.4), f(3), y(3);
  bent(x_star, y);
  for (int k = 0; k < 200; ++k) {
    bent(x, f);
    x -= 0.99 * whole.safe_scale() * r * (f - y);
  }
  EXPECT_LT((x - x_star).norm(), 1e-8);
}

TEST(Certificate, MeasuresTheLipschitzConstantAndTheCosineOfALinearFunctionExactly) {
  Matrix<double> a(2, 2);
  a << 3, 0, 0, 1;
  const auto h = [&](const auto& x, auto&& out) { out = a * x; };
  const Matrix<double> r = Matrix<double>::Identity(2, 2);
  const Certificate c = certify(r, h, Vector<double>::Zero(2), disc(Vector<double>::Zero(2), 1));
  EXPECT_NEAR(c.lipschitz, 3, 1e-3);
  // The least cosine between x and A x is at the angle with tan^2 = 3: 2 sqrt(3) / 4.
  EXPECT_NEAR(c.min_cosine, std::sqrt(3) / 2, 1e-3);
  EXPECT_NEAR(c.bound, 2.0 / 3 * std::sqrt(3) / 2, 2e-3);
  EXPECT_NEAR(c.map_norm, std::sqrt(2), 1e-12);
  EXPECT_NEAR(c.contraction, 2, 1e-3);  // |1 - 3| along the first axis: no guarantee, and it fails
  EXPECT_FALSE(c.guaranteed);
}

TEST(Certificate, TellsThatARotationByMoreThanARightAngleIsNotMonotone) {
  const auto h = [](const auto& x, auto&& out) { out = x; };
  Matrix<double> r(2, 2);
  r << -0.1, -1, 1, -0.1;
  const Certificate c = certify(r, h, Vector<double>::Zero(2), disc(Vector<double>::Zero(2), 1));
  EXPECT_FALSE(c.monotone);
  EXPECT_FALSE(c.guaranteed);
  EXPECT_EQ(c.bound, 0);
  EXPECT_EQ(c.safe_scale(), 0);
  EXPECT_GT(c.contraction, 1);
}

TEST(Certificate, InOneDimensionAgreesWithTheoremOne) {
  const auto h = [](const auto& x, auto&& out) { out[0] = std::sin(x[0]); };
  Matrix<double> samples = around(0, 1, 200).transpose();
  const Certificate c =
      certify(Matrix<double>::Constant(1, 1, 1.5), h, Vector<double>::Zero(1), samples);
  EXPECT_EQ(c.min_cosine, 1);
  EXPECT_NEAR(c.bound, 2 / c.lipschitz, 1e-12);
  EXPECT_TRUE(c.guaranteed);
}

TEST(Certificate, RejectsMismatchedAndNonFiniteInput) {
  const Matrix<double> r = Matrix<double>::Identity(2, 2), ones = Matrix<double>::Ones(2, 3);
  EXPECT_THROW(certify(r, ones, Matrix<double>::Ones(2, 4)), Error);
  EXPECT_THROW(certify(r, ones, Matrix<double>::Ones(3, 3)), Error);
  EXPECT_THROW(certify(r, Matrix<double>::Zero(2, 3), ones), Error);
  EXPECT_THROW(certify(r, ones, ones / 0.0), Error);
  const auto h = [](const auto& x, auto&& out) { out = x.head(2); };
  EXPECT_THROW(certify(r, h, Vector<double>::Zero(2), Matrix<double>::Ones(3, 4)), Error);
}

}  // namespace
}  // namespace sdm
