#include "sdm/linear/symmetric_tiles.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <limits>

#include "tests/linear/random.h"

namespace sdm::linear {
namespace {

// A and b with known size, A well conditioned: the random part has rank `inner`.
template <class Scalar>
struct System {
  Matrix<Scalar> columns;
  Matrix<double> dense;
  SymmetricTiles<Scalar> tiles;

  System(Index size, ThreadPool& pool) : columns(random_matrix<Scalar>(size, 20, 1)), tiles(size) {
    const Matrix<double> wide = columns.template cast<double>();
    dense = wide * wide.transpose();
    dense.diagonal().array() += 3;
    tiles.add_outer(columns, pool);
    tiles.add_to_diagonal(3);
  }
};

template <class Scalar>
void expect_tiles_agree_with_eigen(Index size) {
  SCOPED_TRACE(size);
  const double tolerance = 100 * std::numeric_limits<Scalar>::epsilon();
  ThreadPool pool(3);
  System<Scalar> system(size, pool);
  EXPECT_EQ(system.tiles.size(), size);
  EXPECT_LT(relative_gap(system.tiles.dense(), system.dense), tolerance);
  EXPECT_LT(relative_gap(system.tiles.diagonal(), system.dense.diagonal()), tolerance);

  const Vector<Scalar> factors = random_vector<Scalar>(size, 5);
  const Vector<double> wide_factors = factors.template cast<double>();
  SymmetricTiles<Scalar> scaled = system.tiles;
  scaled.scale(factors);
  EXPECT_LT(relative_gap(scaled.dense(),
                         wide_factors.asDiagonal() * system.dense * wide_factors.asDiagonal()),
            tolerance);

  const Matrix<Scalar> right = random_matrix<Scalar>(size, 7, 2);
  const Matrix<double> wide = right.template cast<double>();
  EXPECT_LT(relative_gap(system.tiles.multiply(right, pool), system.dense * wide), tolerance);

  const Vector<Scalar> v = random_vector<Scalar>(size, 3);
  SymmetricTiles<Scalar> moved = system.tiles;
  moved.add_outer(Scalar(-0.5), v);
  const Matrix<double> outer =
      -0.5 * v.template cast<double>() * v.template cast<double>().transpose();
  EXPECT_LT(relative_gap(moved.dense(), system.dense + outer), tolerance);

  SymmetricTiles<Scalar> doubled = system.tiles;
  doubled += system.tiles;
  EXPECT_LT(relative_gap(doubled.dense(), 2 * system.dense), tolerance);

  // Only the lower triangle of a full matrix is read.
  Matrix<Scalar> lower = system.dense.template cast<Scalar>();
  lower.template triangularView<Eigen::StrictlyUpper>().setConstant(77);
  EXPECT_LT(relative_gap(SymmetricTiles<Scalar>(lower).dense(), system.dense), tolerance);

  SymmetricTiles<Scalar> factor = system.tiles;
  ASSERT_EQ(factor.factorise(pool), -1);
  Matrix<Scalar> solution = right;
  factor.solve(solution, pool);
  EXPECT_LT(relative_gap(solution, system.dense.llt().solve(wide)), 30 * tolerance);
}

class SymmetricTilesTest : public testing::TestWithParam<Index> {};
TEST_P(SymmetricTilesTest, AgreeWithEigenInFloat) {
  expect_tiles_agree_with_eigen<float>(GetParam());
}
TEST_P(SymmetricTilesTest, AgreeWithEigenInDouble) {
  expect_tiles_agree_with_eigen<double>(GetParam());
}
INSTANTIATE_TEST_SUITE_P(Sizes, SymmetricTilesTest, testing::Values(1, 3, 511, 512, 513, 1100));

TEST(SymmetricTiles, GiveTheRowOfTheFirstPivotThatIsNotPositive) {
  ThreadPool pool(2);
  for (const Index bad : {0, 2, 511, 512, 700}) {
    Matrix<double> matrix = Matrix<double>::Identity(701, 701);
    matrix(bad, bad) = -1;
    matrix(700, 700) = -1;  // a later one does not hide the first
    EXPECT_EQ(SymmetricTiles<double>(matrix).factorise(pool), bad);
    EXPECT_EQ(SymmetricTiles<float>(matrix.cast<float>()).factorise(pool), bad);
    matrix(bad, bad) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(SymmetricTiles<double>(matrix).factorise(pool), bad);
    EXPECT_EQ(SymmetricTiles<float>(matrix.cast<float>()).factorise(pool), bad);
  }
}

TEST(SymmetricTiles, FindAPivotThatOnlyEliminationMakesNegative) {
  ThreadPool pool(2);
  Matrix<double> matrix = Matrix<double>::Identity(600, 600);
  matrix(550, 3) = matrix(3, 550) = 2;  // 1 - 2^2 < 0
  EXPECT_EQ(SymmetricTiles<double>(matrix).factorise(pool), 550);
}

TEST(SymmetricTiles, GiveTheSameBitsForAnyNumberOfThreads) {
  const auto run = [](int threads) {
    ThreadPool pool(threads);
    System<float> system(1100, pool);
    Matrix<float> right = system.tiles.multiply(random_matrix<float>(1100, 5, 4), pool);
    system.tiles.factorise(pool);
    system.tiles.solve(right, pool);
    return right;
  };
  const Matrix<float> one = run(1);
  EXPECT_EQ(one, run(2));
  EXPECT_EQ(one, run(5));
}

TEST(SymmetricTiles, StoreAboutHalfOfALargeMatrix) {
  const SymmetricTiles<float> tiles(2048);
  EXPECT_EQ(SymmetricTiles<float>::bytes(2048), 4.0 * static_cast<double>(tiles.data().size()));
  EXPECT_LT(SymmetricTiles<float>::bytes(2048), 0.63 * 4 * 2048 * 2048);
}

TEST(SymmetricTiles, MayBeEmpty) {
  ThreadPool pool(2);
  SymmetricTiles<double> tiles(0);
  Matrix<double> nothing(0, 3);
  tiles.add_outer(nothing, pool);
  EXPECT_EQ(tiles.factorise(pool), -1);
  tiles.solve(nothing, pool);
  EXPECT_EQ(tiles.multiply(nothing, pool).cols(), 3);
}

}  // namespace
}  // namespace sdm::linear
