#include "sdm/linear/symmetry.h"

#include "tests/io/expect_error.h"
#include "tests/linear/random.h"

namespace sdm {
namespace {

using io::expect_error;

// Two pairs (one of which swaps signs), one fixed coordinate of each sign.
const SignedPermutation kMirror{{4, 3, 2, 1, 0, 5}, {1, -1, 1, -1, 1, -1}};

Matrix<double> matrix_of(const SignedPermutation& s) {
  Matrix<double> result = Matrix<double>::Zero(s.size(), s.size());
  for (Index i = 0; i < s.size(); ++i)
    result(i, s.partner[static_cast<std::size_t>(i)]) =
        s.sign.empty() ? 1 : s.sign[static_cast<std::size_t>(i)];
  return result;
}

Matrix<double> basis_of(const MirrorBasis& basis) {
  Matrix<double> result(basis.size(), basis.size());
  basis.backward<double>(Matrix<double>::Identity(basis.size(), basis.size()), result);
  return result;
}

TEST(MirrorBasis, IsOrthonormalAndDiagonalisesTheSymmetry) {
  const MirrorBasis basis(kMirror);
  ASSERT_EQ(basis.size(), 6);
  const Matrix<double> b = basis_of(basis);
  EXPECT_LT((b.transpose() * b - Matrix<double>::Identity(6, 6)).norm(), 1e-14);
  Vector<double> expected = Vector<double>::Ones(6);
  expected.tail(3).setConstant(-1);
  const Matrix<double> diagonal = expected.asDiagonal();
  EXPECT_LT((b.transpose() * matrix_of(kMirror) * b - diagonal).norm(), 1e-14);
  EXPECT_EQ(basis.even_size(), 3);
}

TEST(MirrorBasis, GoesForwardAndBack) {
  const MirrorBasis basis(kMirror);
  const Matrix<float> values = random_matrix<float>(6, 9, 1);
  Matrix<float> there(6, 9), back(6, 9);
  basis.forward<float>(values, there);
  EXPECT_LT(relative_gap(there, basis_of(basis).transpose() * values.cast<double>()), 1e-6);
  basis.backward<float>(there, back);
  EXPECT_LT(relative_gap(back, values), 1e-6);
}

TEST(MirrorBasis, TakesMissingSignsAsPlus) {
  const MirrorBasis basis(SignedPermutation{{1, 0, 2}, {}});
  EXPECT_EQ(basis.even_size(), 2);
  EXPECT_EQ(basis.size(), 3);
}

TEST(MirrorBasis, RefusesWhatIsNotAnInvolution) {
  expect_error([] { MirrorBasis(SignedPermutation{{1, 2, 0}, {}}); }, "coordinate 0 to 1");
  expect_error([] { MirrorBasis(SignedPermutation{{0, 7}, {}}); }, "coordinate 1 to 7");
  expect_error([] { MirrorBasis(SignedPermutation{{-1}, {}}); }, "coordinate 0 to -1");
  expect_error([] { MirrorBasis(SignedPermutation{{1, 0}, {1, -1}}); }, "does not map back");
  expect_error([] { MirrorBasis(SignedPermutation{{0, 1}, {1}}); }, "1 signs, expected 2");
  expect_error([] { MirrorBasis(SignedPermutation{{0}, {0}}); }, "coordinate 0");
}

}  // namespace
}  // namespace sdm
