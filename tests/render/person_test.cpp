#include "render/person.h"

#include <gtest/gtest.h>

#include "render/paint.h"
#include "tests/render/small_head.h"

namespace sdm::render {
namespace {

TEST(LipHeights, GrowFromWhereTheLipsMeetAndFadeBeyondThem) {
  const HeadModel head = make_small_head();
  const std::vector<float> heights = lip_heights(head);
  const auto vertex = [&](std::size_t landmark) {
    return static_cast<std::size_t>(head.landmarks[landmark]);
  };
  EXPECT_NEAR(heights[vertex(62)], 0, 0.05F);
  EXPECT_GT(heights[vertex(51)], 0.5F);
  EXPECT_LT(heights[vertex(57)], -0.5F);
  for (const std::size_t other : {8, 16, 27, 36, 45}) EXPECT_EQ(heights[vertex(other)], 0) << other;
  for (Index i = 0; i < head.neutral.cols(); ++i) {
    const float height = heights[static_cast<std::size_t>(i)];
    EXPECT_LT(std::abs(height), 1.3F) << i;
    if (height != 0) {
      EXPECT_GT(head.neutral(2, i), 5) << i;
      EXPECT_EQ(height > 0, head.neutral(1, i) > -3.4F) << i;
    }
  }
}

TEST(VaryShape, ThinsLipsInTheMean) {
  const HeadModel head = make_small_head();
  const std::vector<float> lips = lip_heights(head);
  const Points directions = normals(head.neutral, head.triangles);
  const auto share = [&](const Points& points, int a, int b) {  // of the nose's length
    const auto at = [&](int k) { return points.col(head.landmarks[static_cast<std::size_t>(k)]); };
    return (at(a) - at(b)).norm() / (at(27) - at(33)).norm();
  };
  float upper = 0, lower = 0;
  constexpr int kFaces = 200;
  for (int i = 0; i < kFaces; ++i) {
    Points points = head.neutral;
    Random random(1, "shape", static_cast<std::uint64_t>(i));
    vary_shape(points, directions, lips, random);
    upper += share(points, 51, 62) / share(head.neutral, 51, 62) / kFaces;
    lower += share(points, 57, 66) / share(head.neutral, 57, 66) / kFaces;
  }
  EXPECT_NEAR(upper, 0.78F, 0.08F);
  EXPECT_NEAR(lower, 0.78F, 0.08F);
}

TEST(PaintLashes, AreFewerBelowThanAbove) {
  int above = 0, below = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    Random random(1, "lashes", i);
    const Field lashes = paint_lashes(random);
    ASSERT_EQ(lashes.height(), 2);
    for (int u = 0; u < lashes.width(); ++u)
      above += lashes(u, 0) >= 0 ? 1 : 0, below += lashes(u, 1) >= 0 ? 1 : 0;
  }
  EXPECT_GT(below, 0);
  EXPECT_LT(below, 0.7 * above);
}

}  // namespace
}  // namespace sdm::render
