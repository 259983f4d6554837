#include "sdm/descent/box.h"

#include <cmath>

#include "tests/io/expect_error.h"

namespace sdm {
namespace {

using io::expect_error;
constexpr auto kLog = Axis::Scale::kLog;

TEST(Box, RunsFromMinusOneToOneOverEveryAxis) {
  const Box box{{2, 6}, {0.1, 10, kLog}, {-100, -1, kLog}};
  Vector<double> x(3), u(3);
  box.from_unit(Vector<double>::Constant(3, -1), x);
  EXPECT_NEAR(x[0], 2, 1e-12);
  EXPECT_NEAR(x[1], 0.1, 1e-12);
  EXPECT_NEAR(x[2], -100, 1e-10);
  box.from_unit(Vector<double>::Zero(3), x);
  EXPECT_NEAR(x[0], 4, 1e-12);
  EXPECT_NEAR(x[1], 1, 1e-12);
  EXPECT_NEAR(x[2], -10, 1e-12);
  EXPECT_EQ(x, box.centre());
  const Vector<double> inside{{5, 3, -7}};
  box.to_unit(inside, u);
  box.from_unit(u, x);
  EXPECT_LT((x - inside).norm(), 1e-12);
  EXPECT_TRUE(box.contains(inside));
  EXPECT_FALSE(box.contains(Vector<double>{{7, 3, -7}}));
  box.to_unit(Vector<double>{{5, -3, -7}}, u);
  EXPECT_TRUE(std::isnan(u[1]));
}

TEST(Box, KnowsItsSlopesAndManyValuesAtOnce) {
  const Box box{{2, 6}, {0.1, 10, kLog}};
  for (Index j = 0; j < 2; ++j) {
    const double u[3] = {-0.4, 0.3, 0.9};
    double x[3];
    box.from_unit(j, 3, u, x);
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(x[i], box.from_unit(j, u[i]), 1e-12);
      const double step = 1e-6;
      const double numeric =
          (box.from_unit(j, u[i] + step) - box.from_unit(j, u[i] - step)) / (2 * step);
      EXPECT_NEAR(box.slope(j, x[i]), numeric, 1e-6 * std::abs(numeric));
    }
  }
}

TEST(Box, RefusesAxesThatMakeNoSense) {
  expect_error([] { Box(std::vector<Axis>{}); }, "no axes");
  expect_error([] { Box({{1, 1}}); }, "runs from 1 to 1");
  expect_error([] { Box({{0, 1}, {3, 2, Axis::Scale::kLinear, "width"}}); }, "axis width");
  expect_error([] { Box({{0, std::numeric_limits<double>::infinity()}}); }, "finite range");
  expect_error([] { Box({{0, 1, kLog}}); }, "above or both below zero");
  expect_error([] { Box({{-1, 1, kLog}}); }, "above or both below zero");
  EXPECT_EQ(Box({{0, 1}}).name(0), "x0");
}

}  // namespace
}  // namespace sdm
