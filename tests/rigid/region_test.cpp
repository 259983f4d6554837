#include "sdm/rigid/region.h"

#include <gtest/gtest.h>

#include "sdm/error.h"

namespace sdm::rigid {
namespace {

TEST(ARegion, HasALongerSideOf100AndWarpsToItsCorners) {
  Quad quad;
  quad << 10, 205, 220, 5, 20, 30, 140, 120;
  const TemplateShape shape = shape_of(quad);
  EXPECT_DOUBLE_EQ(std::max(shape.width, shape.height), 100);
  EXPECT_TRUE(shape.corners(warp_to(shape, quad)).isApprox(quad, 1e-10));
}

TEST(ABox, WarpsByAnExactlyAffineMapOfItsScale) {
  const Quad quad = quad_of_box(30, 40, 200, 100);
  const TemplateShape shape = shape_of(quad);
  EXPECT_DOUBLE_EQ(shape.height, 50);
  const Warp warp = warp_to(shape, quad);
  EXPECT_EQ(warp(2, 0), 0);
  EXPECT_EQ(warp(2, 1), 0);
  EXPECT_NEAR(scale_of(warp), 2, 1e-12);
  EXPECT_TRUE(apply(warp, {0, 0}).isApprox(Eigen::Vector2d(129.5, 89.5), 1e-12));
}

TEST(ARegion, ThatIsMirroredFoldedTinyOrNotFiniteIsRefused) {
  const Quad box = quad_of_box(0, 0, 50, 50);
  Quad mirrored = box, folded = box, infinite = box;
  mirrored.row(0) *= -1;
  folded.col(2) << 10, 10;
  infinite(0, 0) = std::numeric_limits<double>::infinity();
  for (const Quad& quad : {mirrored, folded, infinite, quad_of_box(0, 0, 50, 7)})
    EXPECT_THROW(shape_of(quad), Error);
}

}  // namespace
}  // namespace sdm::rigid
