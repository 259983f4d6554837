#include "face/products.h"

#include <gtest/gtest.h>

#include "sdm/base/random.h"
#include "tests/every_target.h"

namespace sdm::face {
namespace {

Matrix<float> random_matrix(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed, "products");
  Matrix<float> matrix(rows, columns);
  for (float& value : matrix.reshaped()) value = static_cast<float>(random.normal());
  return matrix;
}

TEST(SmallProducts, OfAnySizeAreThoseInDoublePrecision) {
  for (const Index rows : {1, 2, 7, 18, 24, 40, 136})
    for (const Index columns : {1, 5, 40}) {
      const Matrix<float> matrix = random_matrix(rows, columns, 1);
      const Vector<float> x = random_matrix(columns, 1, 2), start = random_matrix(rows, 1, 3);
      const Vector<double> expected =
          start.cast<double>() + matrix.cast<double>() * x.cast<double>();
      on_every_target([&] {
        Vector<float> out = start;
        add_product(matrix, x.data(), out.data());
        EXPECT_LT((out.cast<double>() - expected).cwiseAbs().maxCoeff(), 1e-5);
        EXPECT_NEAR(face::dot(start.data(), out.data(), rows),
                    start.cast<double>().dot(out.cast<double>()), 1e-4);
      });
    }
}

}  // namespace
}  // namespace sdm::face
