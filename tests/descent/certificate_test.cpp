#include "sdm/descent/certificate.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "sdm/base/error.h"
#include "sdm/descent/train/train.h"
#include "tests/descent/problems.h"

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

TEST(Certificate, WhereItHoldsOneStepBringsEverySampleCloser) {
  const Vector<double> x_star = Eigen::Vector2d(0.3, -0.2);
  Matrix<double> r(2, 3);
  r << 1, 0, 0, 0, 1, 0;
  const Certificate whole = certify(r, bent, x_star, disc(x_star, 1));
  ASSERT_TRUE(whole.monotone);
  const Certificate scaled = certify(0.99 * whole.safe_scale() * r, bent, x_star, disc(x_star, 1));
  EXPECT_TRUE(scaled.guaranteed) << scaled.brief_report();
  EXPECT_LT(scaled.contraction, 1);
  EXPECT_THAT(scaled.brief_report(), testing::HasSubstr("one step brings each sample closer"));
  const Matrix<double> samples = disc(x_star, 1);
  Vector<double> f(3), y(3);
  bent(x_star, y);
  for (Index i = 0; i < samples.cols(); ++i) {
    bent(samples.col(i), f);
    const Vector<double> next = samples.col(i) - 0.99 * whole.safe_scale() * r * (f - y);
    EXPECT_LT((next - x_star).norm(), (samples.col(i) - x_star).norm());
  }
}

TEST(Certificate, SaysNothingOfRepeatingTheMap) {
  // From the one sample, 1, a step leads to 0.9, and from there back and forth to -0.9 for ever.
  const auto h = [](const auto& x, auto&& out) { out[0] = x[0] < 0.95 ? 20 * x[0] : x[0]; };
  const Certificate c = certify(Matrix<double>::Constant(1, 1, 0.1), h, Vector<double>::Zero(1),
                                Matrix<double>::Ones(1, 1));
  EXPECT_TRUE(c.guaranteed);
  double x = 1;
  for (int k = 0; k < 2; ++k) {
    Vector<double> out(1);
    h(Vector<double>::Constant(1, x), out);
    x -= 0.1 * out[0];
  }
  EXPECT_LT(x, -0.89);
  for (int k = 0; k < 30; ++k) x -= 0.1 * (x < 0.95 ? 20 * x : x);
  EXPECT_GT(std::abs(x), 0.8);
}

TEST(Certificate, CertifiesTheIdentityInAnyDimensionByItsSpectralNorm) {
  const auto h = [](const auto& x, auto&& out) { out = x; };
  for (const Index n : {1, 4, 9, 50}) {
    const Certificate c = certify(Matrix<double>::Identity(n, n), h, Vector<double>::Zero(n),
                                  Matrix<double>::Identity(n, n) + Matrix<double>::Ones(n, n));
    EXPECT_NEAR(c.spectral_norm, 1, 1e-12);
    EXPECT_NEAR(c.map_norm, std::sqrt(static_cast<double>(n)), 1e-12);
    EXPECT_TRUE(c.guaranteed) << n;
  }
}

TEST(Certificate, TakesTheLargestSingularValueForTheSpectralNorm) {
  Matrix<double> r(2, 3);
  r << 3, 1, 1, -1, 3, 1;  // its singular values are sqrt(12) and sqrt(10)
  EXPECT_NEAR(certify(r, Matrix<double>::Ones(2, 1), Matrix<double>::Ones(3, 1)).spectral_norm,
              std::sqrt(12), 1e-12);
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

TEST(ConformalQuantile, IsTheScoreOfTheRankThatCountsTheNewOneToo) {
  std::vector<double> scores;
  for (int i = 99; i >= 1; --i) scores.push_back(i);
  EXPECT_EQ(conformal_quantile(scores, 0.99), 99);  // ceil(100 * 0.99) = 99
  EXPECT_EQ(conformal_quantile(scores, 0.9), 90);
  EXPECT_EQ(conformal_quantile(scores, 0.901), 91);
  EXPECT_EQ(conformal_quantile(scores, 1e-9), 1);
}

TEST(ConformalQuantile, IsInfiniteWhereThereAreTooFewScoresOrTooManyFailed) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(conformal_quantile(std::vector<double>(98, 1.0), 0.99), infinity);
  EXPECT_EQ(conformal_quantile(std::vector<double>(99, 1.0), 0.99), 1);
  EXPECT_EQ(conformal_quantile({}, 0.5), infinity);
  std::vector<double> scores(99, 1.0);
  scores[7] = std::nan("");
  EXPECT_EQ(conformal_quantile(scores, 0.98), 1);
  EXPECT_EQ(conformal_quantile(scores, 0.99), infinity);
  EXPECT_THROW(conformal_quantile(scores, 1), Error);
  EXPECT_THROW(conformal_quantile(scores, 0), Error);
}

// The share of fresh solves within the radius that held-out samples gave. `make(n, seed)` draws a
// problem with its starts and targets.
template <class Make>
void expect_coverage(const Make& make) {
  TrainOptions options;
  options.stages = 3;
  const auto learning = make(2000, 1), held_out = make(20000, 1000001), fresh = make(100000, 77);
  const auto cascade = train(learning, learning.starts, learning.targets, options).cascade;
  const double radius =
      conformal_radius(cascade, held_out, held_out.starts, held_out.targets, 0.99);
  ASSERT_TRUE(std::isfinite(radius));
  Solver<double> solver(cascade);
  Index within = 0;
  Vector<double> x, delta(delta_size(fresh));
  for (Index i = 0; i < fresh.samples(); ++i) {
    x = fresh.starts.col(i);
    solver.solve(fresh, i, x);
    difference(fresh, x, fresh.targets.col(i), delta);
    within += fresh.size_of(delta) <= radius ? 1 : 0;
  }
  EXPECT_GE(within, 98500);
  EXPECT_LE(within, 99500);
}

// Samples of a smooth function, with noise in what is measured; errors in thousandths.
struct Drawn {
  using Scalar = double;
  Tanh<double> h{2, 5, 3};
  Matrix<double> starts, targets, templates;
  bool known;

  Drawn(Index samples, unsigned seed, bool template_known)
      : starts(random_matrix<double>(2, samples, seed)),
        targets(random_matrix<double>(2, samples, seed + 1)),
        templates(0.1 * random_matrix<double>(5, samples, seed + 2)),
        known(template_known) {
    if (!known) targets *= 0.2;
    for (Index i = 0; i < samples; ++i) templates.col(i) += h(targets.col(i));
  }
  Index samples() const { return starts.cols(); }
  Index state_size() const { return 2; }
  Index feature_size(int) const { return 5; }
  bool template_known() const { return known; }
  void features(Index i, int, ConstVectorRef<double> x, VectorRef<double> out) const {
    out = h(x);
    if (known) out -= templates.col(i);
  }
  double size_of(const Vector<double>& delta) const { return 1000 * delta.norm(); }
  double error(Index, ConstVectorRef<double> delta) const { return size_of(delta); }
};

// An angle as (cos, sin), seen through noise: the state has two numbers, a move has one.
struct Turned {
  using Scalar = double;
  Matrix<double> starts, targets, seen;

  Turned(Index samples, unsigned seed) : starts(2, samples), targets(2, samples), seen(2, samples) {
    const Matrix<double> random = random_matrix<double>(4, samples, seed);
    for (Index i = 0; i < samples; ++i) {
      targets.col(i) << std::cos(9 * random(0, i)), std::sin(9 * random(0, i));
      const double from = 9 * random(0, i) + 0.4 * random(1, i);
      starts.col(i) << std::cos(from), std::sin(from);
      seen.col(i) = targets.col(i) + 0.1 * random.col(i).tail(2);
    }
  }
  Index samples() const { return starts.cols(); }
  Index state_size() const { return 2; }
  Index delta_size() const { return 1; }
  Index feature_size(int) const { return 2; }
  bool template_known() const { return true; }
  void features(Index i, int, ConstVectorRef<double> x, VectorRef<double> out) const {
    out << 1 - (x[0] * seen(0, i) + x[1] * seen(1, i)), x[1] * seen(0, i) - x[0] * seen(1, i);
  }
  void difference(ConstVectorRef<double> x, ConstVectorRef<double> t, VectorRef<double> out) const {
    out[0] = std::atan2(x[0] * t[1] - x[1] * t[0], x.dot(t));
  }
  void step(int, ConstVectorRef<double> x, ConstVectorRef<double> delta,
            VectorRef<double> out) const {
    const double c = std::cos(delta[0]), s = std::sin(delta[0]), x0 = x[0], x1 = x[1];
    out << c * x0 - s * x1, s * x0 + c * x1;
  }
  double size_of(const Vector<double>& delta) const { return delta.norm(); }
};

TEST(ConformalRadius, HoldsOnAsManyFreshSolvesAsItSays) {
  expect_coverage([](Index n, unsigned seed) { return Drawn(n, seed, true); });
}

TEST(ConformalRadius, HoldsForMapsWithABias) {
  expect_coverage([](Index n, unsigned seed) { return Drawn(n, seed, false); });
}

TEST(ConformalRadius, HoldsForStatesOnAManifold) {
  expect_coverage([](Index n, unsigned seed) { return Turned(n, seed); });
}

TEST(ConformalRadius, RefusesSizesThatDoNotFit) {
  const Drawn problem(30, 5, true);
  const auto cascade = train(problem, problem.starts, problem.targets).cascade;
  const Matrix<double> three = Matrix<double>::Zero(3, 30), two = Matrix<double>::Zero(2, 7);
  EXPECT_THROW(conformal_radius(cascade, problem, three, problem.targets, 0.9), Error);
  EXPECT_THROW(conformal_radius(cascade, problem, problem.starts, three, 0.9), Error);
  EXPECT_THROW(conformal_radius(cascade, problem, problem.starts, two, 0.9), Error);
  EXPECT_EQ(conformal_radius(cascade, problem, problem.starts, problem.targets, 0.99),
            std::numeric_limits<double>::infinity());
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
