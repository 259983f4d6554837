#include <gtest/gtest.h>

#include <vector>

#include "sdm/image/gradient_channels.h"
#include "sdm/image/grey.h"
#include "sdm/image/hog.h"
#include "sdm/image/resample.h"
#include "sdm/image/warp.h"
#include "tests/allocation_count.h"

namespace sdm::image {
namespace {

TEST(AFrame, AllocatesNothing) {
  if (!counts_allocations) GTEST_SKIP() << "a sanitizer has a malloc of its own";
  const std::vector<std::uint8_t> pixels(640 * 480 * 3, 7);
  Image<std::uint8_t> frame(640, 480);
  Image<float> canvas(134, 134), patch(100, 100);
  Resampler resampler(134, 134);
  GradientChannels channels(134, 134);
  const Eigen::Matrix2Xf points = Eigen::Matrix2Xf::Constant(2, 68, 60);
  std::vector<float> descriptors(68 * 128), dense(800);
  AffineMap map;
  map << 1.1, 0.2, 30, -0.2, 1.1, 60;
  ProjectiveMap tilted = ProjectiveMap::Identity();
  tilted.topRows<2>() = map;

  const int before = allocations;
  ASSERT_GT(before, 0);
  for (double scale : {1.0, 2.0, 3.1, 6.3}) {
    to_grey(ColourView<std::uint8_t>{pixels.data(), 640, 480, 640 * 3, Layout::bgr}, frame);
    resampler(frame, scale * map, canvas);
    gradient_channels(canvas, channels);
    hog(channels, points, {}, descriptors);
    warp_affine(frame, map, patch, Border::constant(0));
    warp_projective(frame, tilted, patch);
    dense_hog(patch, {}, dense);
  }
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace sdm::image
