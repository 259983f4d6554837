#include "sdm/rigid/region.h"

#include <gtest/gtest.h>

#include "sdm/base/error.h"

namespace sdm::rigid {
namespace {

TEST(ARegion, HasALongerSideOf100AndWarpsToItsCorners) {
  Quad quad;
  quad << 10, 205, 220, 5, 20, 30, 140, 120;
  const TemplateShape shape = shape_of(quad);
  EXPECT_DOUBLE_EQ(std::max(shape.width, shape.height), 100);
  EXPECT_TRUE(shape.corners(warp_to(shape, quad)).isApprox(quad, 1e-10));
}

TEST(ABox, OfAnySizeHasALongerSideOfExactly100AndKeepsItsProportions) {
  for (int width = 8; width <= 400; ++width)
    for (const int height : {8, 9, 64, 78, 100, 257, 400})
      for (const double at : {0.0, 1e4 / 3}) {
        const TemplateShape shape = shape_of(quad_of_box(at, at, width, height));
        ASSERT_EQ(std::max(shape.width, shape.height), kTemplateSide) << width << " x " << height;
        ASSERT_NEAR(shape.width * height, shape.height * width, 1e-7) << width << " x " << height;
        const TemplateShape turned = shape_of(quad_of_box(at, at, height, width));
        ASSERT_EQ(std::max(turned.width, turned.height), kTemplateSide) << height << " x " << width;
      }
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

TEST(Numbers, AreABoxOrItsCorners) {
  const Quad box = quad_of_numbers(std::vector<double>{10, 20, 30, 40});
  EXPECT_EQ(box, quad_of_box(10, 20, 30, 40));
  const std::vector<double> corners = {9.5, 19.5, 39.5, 19.5, 39.5, 59.5, 9.5, 59.5};
  EXPECT_EQ(quad_of_numbers(corners), box);
  EXPECT_THROW(quad_of_numbers(std::vector<double>{10, 20, 30}), Error);
  EXPECT_THROW(quad_of_numbers(std::vector<double>{10, 20, 30, 0}), Error);
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
