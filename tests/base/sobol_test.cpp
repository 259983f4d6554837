#include "sdm/base/sobol.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sdm/base/error.h"

namespace sdm {
namespace {

Matrix<double> points(Index axes, Index count, std::uint64_t seed = 1) {
  Sobol sobol(axes, seed);
  Matrix<double> result(axes, count);
  for (Index i = 0; i < count; ++i) sobol.next(result.col(i));
  return result;
}

TEST(Sobol, PutsOnePointOfEvery2ToTheKIntoEachInterval) {
  constexpr Index count = 1024;
  const Matrix<double> all = points(24, 2 * count);
  for (Index axis = 0; axis < all.rows(); ++axis)
    for (Index first : {Index{0}, count}) {
      std::set<Index> intervals;
      for (Index i = first; i < first + count; ++i)
        intervals.insert(static_cast<Index>(all(axis, i) * count));
      EXPECT_EQ(intervals.size(), static_cast<std::size_t>(count)) << "axis " << axis;
    }
}

// The integral of a product of one bump per axis, against that of random points, whose error falls
// with the root of their number.
TEST(Sobol, IntegratesASmoothFunctionBetterThanRandomPointsWould) {
  constexpr Index count = 4096;
  const Matrix<double> all = points(4, count);
  double sum = 0;
  for (Index i = 0; i < count; ++i) {
    double product = 1;
    for (Index j = 0; j < 4; ++j) product *= 1.5 * std::sqrt(all(j, i));  // mean 1
    sum += product;
  }
  const double deviation = std::sqrt(std::pow(9. / 8, 4) - 1);
  EXPECT_LT(std::abs(sum / count - 1), 0.2 * deviation / std::sqrt(double(count)));
}

TEST(Sobol, DependsOnTheSeedAlone) {
  EXPECT_EQ(points(3, 50, 7), points(3, 50, 7));
  EXPECT_NE(points(3, 50, 7), points(3, 50, 8));
  EXPECT_GE(points(3, 50).minCoeff(), 0);
  EXPECT_LT(points(3, 50).maxCoeff(), 1);
  EXPECT_THROW(Sobol(0, 1), Error);
}

}  // namespace
}  // namespace sdm
