#include "descent/block_kernels.h"

#include <gtest/gtest.h>

#include "sdm/descent/batched.h"
#include "tests/linear/random.h"

namespace sdm {
namespace {

Block<double> random_block(Index rows, unsigned seed) {
  return random_matrix<double>(rows, kBlockColumns, seed);
}

// Plain Eigen is the twin of every kernel.
TEST(BlockKernels, AgreeWithPlainArithmeticForEveryWidth) {
  for (const Index columns : {1, 2, 5, 8, 17, 33, 63, 64}) {
    const Block<double> a = random_matrix<double>(13, 29, 1), b = random_block(29, 2);
    Block<double> product(13, kBlockColumns);
    multiply_block(a.data(), 13, 29, b.data(), columns, product.data());
    EXPECT_LT(relative_gap(product.leftCols(columns), (a * b).leftCols(columns)), 1e-14);

    const Vector<double> weight = random_vector<double>(29, 3);
    const Block<double> values = random_block(29, 4).cwiseAbs(), target = random_block(29, 5);
    for (const bool root : {false, true}) {
      Block<double> z(29, kBlockColumns), sums(1, kBlockColumns);
      residual_block(root, values.data(), target.data(), weight.data(), 29, columns, z.data(),
                     sums.data());
      Block<double> expected = root ? Block<double>((values.array() + 0.375).sqrt()) : values;
      expected = weight.asDiagonal() * (expected - target);
      EXPECT_LT(relative_gap(z.leftCols(columns), expected.leftCols(columns)), 1e-14);
      EXPECT_LT(
          relative_gap(sums.leftCols(columns), expected.leftCols(columns).colwise().squaredNorm()),
          1e-14);
    }

    const Block<double> terms = random_block(4, 6), products = random_block(12, 7);
    Block<double> delta(3, kBlockColumns), expected = Block<double>::Zero(3, kBlockColumns);
    contract_block(terms.data(), products.data(), 4, 3, columns, delta.data());
    for (Index l = 0; l < 4; ++l)
      for (Index i = 0; i < 3; ++i)
        expected.row(i).array() += terms.row(l).array() * products.row(3 * l + i).array();
    EXPECT_LT(relative_gap(delta.leftCols(columns), expected.leftCols(columns)), 1e-14);
  }
}

TEST(BlockKernels, LetAValueThatIsNotANumberBeSeen) {
  Block<double> values = random_block(3, 1);
  values(1, 4) = std::numeric_limits<double>::quiet_NaN();
  values(2, 5) = -1;  // counts are not negative; its root is that of zero
  const Vector<double> weight = Vector<double>::Ones(3);
  const Block<double> target = Block<double>::Zero(3, kBlockColumns);
  Block<double> z(3, kBlockColumns), sums(1, kBlockColumns);
  residual_block(true, values.data(), target.data(), weight.data(), 3, 8, z.data(), sums.data());
  EXPECT_TRUE(std::isnan(sums(0, 4)));
  EXPECT_DOUBLE_EQ(z(2, 5), std::sqrt(0.375));
}

// A column's bits must not depend on how many stand beside it.
TEST(BlockKernels, GiveAColumnTheSameBitsInEveryWidth) {
  const Block<double> a = random_matrix<double>(7, 11, 1), b = random_block(11, 2);
  Block<double> wide(7, kBlockColumns), narrow(7, kBlockColumns);
  multiply_block(a.data(), 7, 11, b.data(), kBlockColumns, wide.data());
  for (const Index columns : {1, 3, 9, 40}) {
    multiply_block(a.data(), 7, 11, b.data(), columns, narrow.data());
    EXPECT_EQ(Matrix<double>(narrow.leftCols(columns)), Matrix<double>(wide.leftCols(columns)));
  }
}

}  // namespace
}  // namespace sdm
