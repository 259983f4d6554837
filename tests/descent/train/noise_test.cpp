#include "sdm/descent/train/noise.h"

#include <cmath>

#include "tests/io/expect_error.h"

namespace sdm {
namespace {

using io::expect_error;

Matrix<double> drawn(const Noise& noise, const Vector<double>& y, Index count = 20000) {
  Matrix<double> all(y.size(), count);
  Random random(1, "noise test");
  for (Index i = 0; i < count; ++i) {
    Vector<double> measured = y;
    noise.add(measured, random);
    all.col(i) = measured;
  }
  return all;
}

double deviation(const Matrix<double>& all, Index row) {
  return std::sqrt((all.row(row).array() - all.row(row).mean()).square().mean());
}

TEST(Noise, HasTheDeviationItWasTold) {
  const Vector<double> y{{100, 25}};
  const Matrix<double> one = drawn(Noise::gaussian(3), y);
  EXPECT_NEAR(one.row(0).mean(), 100, 0.1);
  EXPECT_NEAR(deviation(one, 0), 3, 0.06);
  EXPECT_NEAR(deviation(one, 1), 3, 0.06);
  const Matrix<double> each = drawn(Noise::gaussian(Vector<double>{{1, 5}}), y);
  EXPECT_NEAR(deviation(each, 0), 1, 0.03);
  EXPECT_NEAR(deviation(each, 1), 5, 0.1);
  const Matrix<double> counts = drawn(Noise::poisson(), y);
  EXPECT_NEAR(deviation(counts, 0), 10, 0.2);
  EXPECT_NEAR(deviation(counts, 1), 5, 0.1);
  EXPECT_EQ(drawn(Noise(), y, 3).col(2), y);
  const auto shift = [](VectorRef<double> v, Random& random) { v.array() += random.uniform(); };
  EXPECT_NEAR(drawn(Noise::function(shift), y).row(1).mean(), 25.5, 0.02);
}

TEST(Noise, RefusesDeviationsThatMakeNoSense) {
  Noise::gaussian(1).validate(7);
  Noise::poisson().validate(7);
  expect_error([] { Noise::gaussian(Vector<double>{{1, 2}}).validate(3); }, "2 deviations");
  expect_error([] { Noise::gaussian(-1).validate(3); }, "negative");
  expect_error([] { Noise::function({}); }, "empty");
}

}  // namespace
}  // namespace sdm
