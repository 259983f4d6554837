#include "sdm/io/tensor.h"

#include <cmath>
#include <limits>
#include <random>

#include "tests/io/expect_error.h"

namespace sdm::io {
namespace {

Matrix<double> random_matrix(Eigen::Index rows, Eigen::Index cols) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  return Matrix<double>::NullaryExpr(rows, cols, [&] { return normal(random); });
}

TEST(Tensor, KeepsAMatrixColumnByColumn) {
  Eigen::Matrix<float, 2, 3, Eigen::RowMajor> m;
  m << 1, 2, 3, 4, 5, 6;
  const Tensor t = to_tensor(m);
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_THAT(t.as<float>(), testing::ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_EQ(to_matrix<double>(t), m.cast<double>());
  EXPECT_EQ(to_matrix<float>(t, 2, 3), Matrix<float>(m));
}

TEST(Tensor, KeepsABlockATransposeAndAMap) {
  const Matrix<double> m = random_matrix(5, 4);
  EXPECT_EQ(to_matrix<double>(to_tensor(m.block(1, 1, 3, 2))), Matrix<double>(m.block(1, 1, 3, 2)));
  EXPECT_EQ(to_matrix<double>(to_tensor(m.transpose())), Matrix<double>(m.transpose()));
  EXPECT_EQ(to_vector<double>(to_tensor(m.row(2))), Vector<double>(m.row(2)));
  const Eigen::Map<const Matrix<double>, 0, Eigen::OuterStride<>> map(m.data(), 2, 4,
                                                                      Eigen::OuterStride<>(5));
  EXPECT_EQ(to_matrix<double>(to_tensor(map)), Matrix<double>(m.topRows(2)));
}

TEST(Tensor, KeepsAVectorAndAnExpression) {
  const Eigen::Vector3d v(1, 2, 3);
  EXPECT_EQ(to_tensor(v).shape(), Shape{3});
  EXPECT_EQ(to_vector<double>(to_tensor(2 * v), 3), Vector<double>(2 * v));
}

TEST(Tensor, StartsAtAnAlignedAddress) {
  for (std::size_t n : {1u, 3u, 1000u}) {
    const Tensor t = to_tensor(std::vector<std::uint8_t>(n));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t.bytes().data()) % alignment, 0u);
  }
}

TEST(Tensor, SharesItsBytesWithCopiesAndOutlivesTheSource) {
  Tensor copy;
  {
    const Tensor t = to_tensor(std::vector<float>{1, 2});
    copy = t;
    EXPECT_EQ(copy.bytes().data(), t.bytes().data());
    EXPECT_NE(copy.clone().bytes().data(), t.bytes().data());
    EXPECT_EQ(copy.clone(), t);
  }
  EXPECT_THAT(copy.as<float>(), testing::ElementsAre(1, 2));
}

TEST(Tensor, RefusesAccessAsAnotherTypeOrShape) {
  const Tensor t = to_tensor(Matrix<float>(Matrix<float>::Zero(2, 3)));
  expect_error([&] { t.as<double>(); }, "tensor holds f32 [2, 3], asked for f64");
  expect_error([&] { to_matrix<float>(t, 3, any_size); }, "f32 [2, 3]: expected a matrix [3, any]");
  expect_error([&] { to_vector<float>(t); }, "f32 [2, 3] has rank 2, expected 1");
  expect_error([&] { to_vector<float>(to_tensor(std::vector<float>(2)), 5); },
               "expected a vector [5]");
}

TEST(Tensor, RefusesBytesThatDoNotFitTheShape) {
  const std::vector<float> values(5);
  expect_error(
      [&] {
        to_tensor(std::span<const float>(values), {2, 3});
      },
      "f32 [2, 3] needs 24 bytes, 20 given");
  expect_error(
      [&] {
        to_tensor(std::span<const float>(), {std::size_t{1} << 40, std::size_t{1} << 40, 0});
      },
      "too large");
  expect_error(
      [&] {
        to_tensor(std::span<const float>(), {0, std::size_t{1} << 33});
      },
      "shape [0, 8589934592] is too large");
  expect_error([&] { Tensor(ElementType{99}, {1}, {}); }, "element type 99 is unknown");
}

TEST(Tensor, NarrowsToHalfWithinHalfAUnitInTheLastPlace) {
  const Matrix<double> m = random_matrix(17, 5);
  const Tensor half = convert(to_tensor(m), ElementType::f16);
  EXPECT_EQ(half.bytes().size(), 17u * 5 * 2);
  const Matrix<double> back = to_matrix<double>(half);
  // f16 has 11 significant bits and no exponent below 2^-14.
  for (Eigen::Index i = 0; i < m.size(); ++i)
    EXPECT_LE(std::abs(back(i) - m(i)), std::max(std::abs(m(i)) * 0x1p-11, 0x1p-25));
}

TEST(Tensor, RefusesToNarrowWhatDoesNotFit) {
  expect_error(
      [] {
        convert(to_tensor(std::vector<double>{1, 7e4}), ElementType::f16);
      },
      "70000 does not fit f16");
  expect_error([] { convert(to_tensor(std::vector<double>{1e300}), ElementType::f32); },
               "does not fit f32");
  EXPECT_EQ(to_vector<float>(convert(to_tensor(std::vector<float>{65504}), ElementType::f16)),
            Vector<float>::Constant(1, 65504));
}

TEST(Tensor, GivesFloatsFromEveryType) {
  const Vector<float> wanted{{1, 2, 100}};
  EXPECT_EQ(to_vector<float>(to_tensor(std::vector<float>{1, 2, 100})), wanted);
  EXPECT_EQ(to_vector<float>(to_tensor(std::vector<double>{1, 2, 100})), wanted);
  EXPECT_EQ(to_vector<float>(to_tensor(std::vector<std::int8_t>{1, 2, 100})), wanted);
  EXPECT_EQ(to_vector<float>(to_tensor(std::vector<std::uint8_t>{1, 2, 100})), wanted);
  EXPECT_EQ(to_vector<float>(to_tensor(std::vector<std::int32_t>{1, 2, 100})), wanted);
  EXPECT_EQ(to_vector<float>(to_tensor(std::vector<std::int64_t>{1, 2, 100})), wanted);
  EXPECT_EQ(to_vector<float>(convert(to_tensor(std::vector<double>{1, 2, 100}), ElementType::f16)),
            wanted);
}

class Quantisation : public testing::TestWithParam<ScalePer> {};

TEST_P(Quantisation, IsWithinHalfAStepOfItsScale) {
  Matrix<double> m = random_matrix(20, 20);
  m.col(3).setZero();
  m.row(4).setZero();
  m.col(5) *= 1e-44;  // a scale among the subnormal floats
  m.row(6) *= 1e30;
  const Quantized q = quantize(to_tensor(m), GetParam());
  const bool by_column = GetParam() == ScalePer::column;
  EXPECT_EQ(q.scale.shape(), by_column ? (Shape{1, 20}) : (Shape{20, 1}));
  const auto scale = q.scale.as<float>();
  const Matrix<double> back = to_matrix<double>(dequantize(q));
  for (Eigen::Index r = 0; r < 20; ++r)
    for (Eigen::Index c = 0; c < 20; ++c) {
      const double s = scale[static_cast<std::size_t>(by_column ? c : r)];
      EXPECT_LE(std::abs(back(r, c) - m(r, c)), s * 0.50001) << r << ' ' << c;
    }
}

TEST_P(Quantisation, UsesTheWholeRangeAndKeepsTheLargestNumber) {
  const Matrix<double> m = random_matrix(9, 9);
  const Quantized q = quantize(to_tensor(m), GetParam());
  const Matrix<double> integers = to_matrix<double>(q.values).cwiseAbs();
  const Vector<double> largest = GetParam() == ScalePer::column
                                     ? Vector<double>(integers.colwise().maxCoeff())
                                     : Vector<double>(integers.rowwise().maxCoeff());
  EXPECT_TRUE((largest.array() == 127).all());
}

INSTANTIATE_TEST_SUITE_P(Per, Quantisation, testing::Values(ScalePer::column, ScalePer::row),
                         [](const auto& info) {
                           return info.param == ScalePer::column ? "Column" : "Row";
                         });

TEST(Tensor, RefusesToQuantiseWhatIsNotFinite) {
  Matrix<double> m = random_matrix(2, 2);
  m(1, 1) = std::numeric_limits<double>::quiet_NaN();
  expect_error([&] { quantize(to_tensor(m), ScalePer::row); }, "not finite");
  m(1, 1) = 1e300;
  expect_error([&] { quantize(to_tensor(m), ScalePer::row); }, "too large for an f32 scale");
}

TEST(Tensor, RefusesAScaleOfAnotherShape) {
  Quantized q = quantize(to_tensor(random_matrix(3, 4)), ScalePer::row);
  q.scale = to_tensor(Matrix<float>(Matrix<float>::Ones(2, 1)));
  expect_error([&] { dequantize(q); },
               "scale f32 [2, 1] of i8 [3, 4]: expected f32 [1, 4] or [3, 1]");
}

TEST(Quantize, TakesAMatrixWithoutNumbers) {
  for (const ScalePer per : {ScalePer::row, ScalePer::column}) {
    const Quantized quantized = quantize(to_tensor(Eigen::MatrixXf(3, 0)), per);
    EXPECT_EQ(quantized.values.shape(), (Shape{3, 0}));
    EXPECT_EQ(quantized.scale.shape(), per == ScalePer::row ? (Shape{3, 1}) : (Shape{1, 0}));
  }
}

}  // namespace
}  // namespace sdm::io
