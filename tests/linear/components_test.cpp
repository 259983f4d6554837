#include "sdm/linear/components.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "sdm/base/random.h"
#include "sdm/linear/ridge.h"
#include "tests/linear/samples.h"

namespace sdm::linear {
namespace {

// Features whose energy falls off along random directions, with a mean that is not zero.
Samples decaying_samples(Index features, Index count, double rate) {
  Samples s(features, 1, count, 31);
  Matrix<double> inner = random_matrix<double>(count, count, 77);
  for (Index i = 0; i < count; ++i) inner.row(i) *= std::exp(-rate * static_cast<double>(i));
  s.features = random_matrix<double>(features, count, 78) * inner;
  s.features.colwise() += 3 * random_vector<double>(features, 79);
  s.weights.setOnes();
  return s;
}

// Eigenvalues in descending order of the (centred) scatter of the samples, by the smaller Gram.
Vector<double> spectrum(const Samples& s, bool centred) {
  Matrix<double> f = s.features;
  if (centred) f.colwise() -= s.features.rowwise().mean();
  const Matrix<double> gram =
      f.rows() < f.cols() ? Matrix<double>(f * f.transpose()) : Matrix<double>(f.transpose() * f);
  return Eigen::SelfAdjointEigenSolver<Matrix<double>>(gram, Eigen::EigenvaluesOnly)
      .eigenvalues()
      .reverse();
}

template <class Scalar>
void expect_principal_components(Index features, Index count, double rate, double energy,
                                 bool centred, Index slack) {
  ThreadPool pool(2);
  const Samples samples = decaying_samples(features, count, rate);
  const Vector<double> values = spectrum(samples, centred);
  const double rounding = 1000 * std::numeric_limits<Scalar>::epsilon();
  const auto count_for = [&](double share) {
    Index needed = 0;
    for (double kept = 0; kept < share * values.sum(); ++needed) kept += values[needed];
    return needed;
  };

  Random random(5, "test");
  const Matrix<double> basis =
      principal_components(samples.equations<Scalar>(pool), energy, centred, random, pool)
          .template cast<double>();
  EXPECT_EQ(basis.rows(), features);
  EXPECT_LT(
      (basis.transpose() * basis - Matrix<double>::Identity(basis.cols(), basis.cols())).norm(),
      rounding);
  EXPECT_LE(basis.cols(), count_for(energy) + slack);
  EXPECT_GE(basis.cols(), count_for(energy - rounding));

  Matrix<double> f = samples.features;
  if (centred) f.colwise() -= samples.features.rowwise().mean();
  const double share = (basis.transpose() * f).squaredNorm() / f.squaredNorm();
  EXPECT_GE(share, energy - rounding);
}

TEST(PrincipalComponents, AreTheFewestThatKeepTheEnergyOfFewFeatures) {
  for (const bool centred : {false, true}) {
    expect_principal_components<double>(40, 90, 0.05, 0.98, centred, 0);
    expect_principal_components<double>(40, 90, 0.05, 0.5, centred, 0);
    expect_principal_components<float>(40, 90, 0.05, 0.9, centred, 1);
  }
}

TEST(PrincipalComponents, AreAsGoodAsTheExactOnesForManyFeatures) {
  expect_principal_components<float>(1500, 300, 0.03, 0.98, true, 2);   // one block of directions
  expect_principal_components<float>(1500, 300, 0.004, 0.9, false, 8);  // has to double it
}

TEST(PrincipalComponents, KeepAllOfAFlatSpectrum) {
  ThreadPool pool(2);
  const Samples samples(6, 1, 500, 3);
  Random random(1, "test");
  EXPECT_EQ(principal_components(samples.equations<double>(pool), 1.0, true, random, pool).cols(),
            6);
}

TEST(PrincipalComponents, FollowTheSeedToTheBit) {
  const Samples samples = decaying_samples(1030, 60, 0.05);
  const auto run = [&](int threads, std::uint64_t seed) {
    ThreadPool pool(threads);
    Random random(seed, "test");
    return principal_components(samples.equations<float>(pool), 0.9, true, random, pool);
  };
  EXPECT_EQ(run(1, 7), run(3, 7));
  EXPECT_NE(run(1, 7), run(1, 8));
}

TEST(SampleSpan, GivesTheMapOfTheDualForm) {
  ThreadPool pool(2);
  const Index n = 12;
  const double lambda = 0.7;
  Samples s(50, 3, n, 17);
  s.weights.setOnes();
  const Matrix<double>&f = s.features, &t = s.targets;
  for (const bool centred : {false, true}) {
    // R = T H (H K H + lambda)^-1 H F^T with H the centring matrix, or 1.
    Matrix<double> h = Matrix<double>::Identity(n, n);
    if (centred) h.array() -= 1.0 / static_cast<double>(n);
    const Matrix<double> kernel =
        h * f.transpose() * f * h + lambda * Matrix<double>::Identity(n, n);
    const Matrix<double> dual = t * h * kernel.llt().solve(h * f.transpose());

    const Matrix<double> basis = sample_span<double>(f, centred);
    EXPECT_EQ(basis.cols(), centred ? n - 1 : n);
    Samples reduced = s;
    reduced.features = basis.transpose() * f;
    const auto in_basis = ridge(reduced.equations<double>(pool), lambda, centred, pool);
    EXPECT_LT(relative_gap(basis * in_basis.weights, dual.transpose()), 1e-10);
    // And the primal form gives the same.
    const auto primal = ridge(s.equations<double>(pool), lambda, centred, pool);
    EXPECT_LT(relative_gap(primal.weights, dual.transpose()), 1e-10);
  }
}

TEST(SampleSpan, IsEmptyForTheDifferencesOfOneSample) {
  EXPECT_EQ(sample_span<double>(random_matrix<double>(5, 1, 1), true).cols(), 0);
  EXPECT_EQ(sample_span<double>(random_matrix<double>(5, 1, 1), false).cols(), 1);
}

}  // namespace
}  // namespace sdm::linear
