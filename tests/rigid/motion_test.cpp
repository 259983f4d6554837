#include "sdm/rigid/motion.h"

#include <gtest/gtest.h>

#include <random>

#include "sdm/base/error.h"

namespace sdm::rigid {
namespace {

class AnyMotion : public testing::TestWithParam<Motion> {
 protected:
  Parameters draw() {
    std::normal_distribution<double> normal;
    Parameters p(parameter_count(GetParam()));
    for (double& value : p) value = 0.1 * normal(random_);
    if (GetParam() == Motion::homography) p.tail<2>() *= 0.01;
    return p;
  }
  Warp draw_warp() { return warp_of(GetParam(), draw()); }
  std::mt19937 random_{7};
};

TEST_P(AnyMotion, IsAGroup) {
  for (int i = 0; i < 100; ++i) {
    const Warp a = draw_warp(), b = draw_warp(), c = draw_warp();
    EXPECT_TRUE(compose(a, inverse(a)).isIdentity(1e-12));
    EXPECT_TRUE(compose(compose(a, b), c).isApprox(compose(a, compose(b, c)), 1e-12));
    // Closed: the product has parameters of the same family that give it back.
    const Warp product = compose(a, inverse(b));
    EXPECT_TRUE(warp_of(GetParam(), parameters_of(GetParam(), product)).isApprox(product, 1e-12));
  }
}

TEST_P(AnyMotion, StepsByTheDifferenceArriveAtTheTarget) {
  for (int i = 0; i < 100; ++i) {
    const Warp from = draw_warp(), to = draw_warp();
    EXPECT_TRUE(step(GetParam(), from, difference(GetParam(), from, to)).isApprox(to, 1e-10));
    const Parameters delta = draw();
    EXPECT_TRUE(difference(GetParam(), from, step(GetParam(), from, delta)).isApprox(delta, 1e-8));
    EXPECT_TRUE(difference(GetParam(), from, from).isZero(1e-12));
  }
}

TEST_P(AnyMotion, ComposesAsItsPointsDo) {
  const Warp a = draw_warp(), b = draw_warp();
  const Eigen::Vector2d point(3, -2);
  EXPECT_TRUE(apply(compose(a, b), point).isApprox(apply(a, apply(b, point)), 1e-12));
}

TEST_P(AnyMotion, IsKnownByItsName) {
  EXPECT_EQ(motion_from_string(to_string(GetParam())), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Motions, AnyMotion,
                         testing::Values(Motion::translation, Motion::similarity, Motion::affine,
                                         Motion::homography),
                         [](const auto& info) { return to_string(info.param); });

TEST(AMotion, OfUnknownNameIsRefused) { EXPECT_THROW(motion_from_string("rigid"), Error); }

}  // namespace
}  // namespace sdm::rigid
