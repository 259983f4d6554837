#include "sdm/image/warp.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <limits>
#include <vector>

#include "image/scalar.h"
#include "sdm/base/error.h"
#include "tests/every_target.h"
#include "tests/image/pictures.h"

namespace sdm::image {
namespace {

AffineMap random_map(std::mt19937& random, double spread) {
  std::normal_distribution<double> normal;
  AffineMap map;
  for (double& v : map.reshaped()) v = normal(random);
  map.col(2) *= spread;
  return map;
}

ProjectiveMap projective(const AffineMap& map, double tilt) {
  ProjectiveMap full = ProjectiveMap::Identity();
  full.topRows<2>() = map;
  full(2, 0) = tilt;
  full(2, 1) = -2 * tilt;
  return full;
}

// Bilinear interpolation by its definition, in double precision.
double interpolate(ByteView src, double x, double y, Border border) {
  double sum = 0;
  for (int v = 0; v < src.height + 2; ++v) {
    for (int u = 0; u < src.width + 2; ++u) {
      const double weight =
          std::max(0.0, 1 - std::abs(x - (u - 1))) * std::max(0.0, 1 - std::abs(y - (v - 1)));
      const bool inside = u >= 1 && v >= 1 && u <= src.width && v <= src.height;
      const double pixel =
          src(std::clamp(u - 1, 0, src.width - 1), std::clamp(v - 1, 0, src.height - 1));
      sum += weight * (inside || !border.is_constant ? pixel : border.value);
    }
  }
  return sum;
}

TEST(Warp, OfAnySizeAndBorderEqualsItsScalarTwin) {
  std::mt19937 random(3);
  const int sizes[][2] = {{1, 1}, {2, 1}, {1, 5}, {3, 3}, {4, 2}, {5, 7}, {64, 48}};
  const int outputs[][2] = {{1, 1}, {3, 2}, {16, 16}, {33, 5}};
  for (const auto& [w, h] : sizes) {
    const auto bytes = noise<std::uint8_t>(w, h, unsigned(w));
    const auto floats = noise<float>(w, h, unsigned(w));
    for (const auto& [u, v] : outputs) {
      for (double spread : {1.0, 40.0, 1e4}) {
        const AffineMap map = random_map(random, spread);
        const ProjectiveMap tilted = projective(map, 0.01);
        for (Border border : {Border::replicate(), Border::constant(77)}) {
          Image<float> expected(u, v), found(u, v);
          Image<std::uint8_t> expected_bytes(u, v), found_bytes(u, v);
          on_every_target([&] {
            scalar::warp_affine(bytes, map, expected, border);
            warp_affine(bytes, map, found, border);
            EXPECT_LE(largest_difference(expected, found), 0.02);
            scalar::warp_affine(floats, map, expected, border);
            warp_affine(floats, map, found, border);
            EXPECT_LE(largest_difference(expected, found), 0.02);
            scalar::warp_affine(bytes, map, expected_bytes, border);
            warp_affine(bytes, map, found_bytes, border);
            EXPECT_LE(largest_difference(expected_bytes, found_bytes), 1);
            scalar::warp_projective(bytes, tilted, expected, border);
            warp_projective(bytes, tilted, found, border);
            EXPECT_LE(largest_difference(expected, found), 0.5);
            scalar::warp_projective(floats, tilted, expected, border);
            warp_projective(floats, tilted, found, border);
            EXPECT_LE(largest_difference(expected, found), 0.5);
          });
        }
      }
    }
  }
}

TEST(Warp, IsBilinearInterpolationInDoublePrecision) {
  const auto src = noise<std::uint8_t>(23, 19, 4);
  AffineMap map;
  map << 0.7, -0.3, 4.2, 0.25, 0.8, -2.1;
  const ProjectiveMap tilted = projective(map, 0.004);
  Image<float> affine(40, 20), tilt(40, 20);
  for (Border border : {Border::replicate(), Border::constant(200)}) {
    on_every_target([&] {
      warp_affine(src, map, affine, border);
      warp_projective(src, tilted, tilt, border);
      for (int v = 0; v < affine.height(); ++v) {
        for (int u = 0; u < affine.width(); ++u) {
          const Eigen::Vector2d p = map * Eigen::Vector3d(u, v, 1);
          const Eigen::Vector3d q = tilted * Eigen::Vector3d(u, v, 1);
          auto expected = [&](double x, double y) {
            // Beyond a pixel outside nothing changes any more.
            return interpolate(src, std::clamp(x, -1.0, 23.0), std::clamp(y, -1.0, 19.0), border);
          };
          EXPECT_NEAR(affine(u, v), expected(p.x(), p.y()), 0.01);
          EXPECT_NEAR(tilt(u, v), expected(q.x() / q.z(), q.y() / q.z()), 0.01);
        }
      }
    });
  }
}

TEST(Warp, InPartsIsTheRoundedWarp) {
  const auto src = noise<std::uint8_t>(64, 48, 9);
  for (const double shift : {5.0, -10.0}) {  // inside, and past the border
    AffineMap map;
    map << 0.9, -0.1, 5 + shift, 0.1, 0.9, shift;
    Image<float> floats(40, 30);
    Image<std::int16_t> parts(40, 30), twin(40, 30);
    scalar::warp_affine(src, map, twin);
    on_every_target([&] {
      warp_affine(src, map, floats);
      warp_affine(src, map, parts);
      for (int v = 0; v < 30; ++v)
        for (int u = 0; u < 40; ++u) {
          EXPECT_NEAR(parts(u, v), double(kPixelParts) * double(floats(u, v)), 0.501);
          EXPECT_NEAR(parts(u, v), twin(u, v), 1);
        }
    });
  }
}

TEST(Warp, ByTheIdentityIsThePicture) {
  const auto src = noise<std::uint8_t>(37, 21, 5);
  AffineMap map = AffineMap::Identity();
  on_every_target([&] {
    Image<std::uint8_t> out(37, 21);
    warp_affine(src, map, out);
    EXPECT_EQ(largest_difference(src, out), 0);
    warp_projective(src, ProjectiveMap::Identity(), out, Border::constant(1));
    EXPECT_EQ(largest_difference(src, out), 0);
  });
}

TEST(Warp, ReadsRowsWithGapsBetweenThemOrUpsideDown) {
  const auto src = noise<std::uint8_t>(20, 6, 6);
  const std::ptrdiff_t stride = 1 << 20;
  std::vector<std::uint8_t> far(5 * stride + 20);
  for (int y = 0; y < 6; ++y) std::copy_n(src.view().row(y), 20, far.data() + y * stride);
  const ByteView sparse(far.data(), 20, 6, stride),
      flipped(far.data() + 5 * stride, 20, 6, -stride);
  AffineMap map, down;
  map << 0.9, 0.1, -1, -0.1, 0.9, 1;
  down << 0.9, 0.1, -1, 0.1, -0.9, 4;
  on_every_target([&] {
    Image<float> expected(18, 6), found(18, 6);
    warp_affine(src, map, expected);
    warp_affine(sparse, map, found);
    EXPECT_EQ(largest_difference(expected, found), 0);
    warp_affine(flipped, down, found);
    EXPECT_LE(largest_difference(expected, found), 1e-3);
  });
}

TEST(Warp, ReadsRowsBeyondTheReachOf32BitOffsets) {
  const auto src = noise<std::uint8_t>(20, 6, 6);
  const std::ptrdiff_t stride = std::ptrdiff_t(1) << 29;
  const std::size_t size = std::size_t(5 * stride + 20);
  // Address space alone: only the pages that are touched take memory.
  void* room = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  auto* far = static_cast<std::uint8_t*>(room);
  for (int y = 0; y < 6; ++y) std::copy_n(src.view().row(y), 20, far + y * stride);
  AffineMap map;
  map << 0.9, 0.1, -1, -0.1, 0.9, 1;
  Image<float> expected(18, 6), found(18, 6);
  scalar::warp_affine(src, map, expected);
  on_every_target([&] {
    warp_affine(ByteView(far, 20, 6, stride), map, found);
    EXPECT_EQ(largest_difference(expected, found), 0);
  });
  munmap(room, size);
}

TEST(Warp, WithWildMapsNeverLeavesThePicture) {
  const auto bytes = noise<std::uint8_t>(9, 8, 7);
  const auto floats = noise<float>(9, 8, 7);
  AffineMap wild[4];
  wild[0].setZero();
  wild[1].setConstant(1e30);
  wild[2].setConstant(-1e300);
  wild[3] << 1e300, 0, -1e300, -1e300, 1e300, 1e300;
  for (const AffineMap& map : wild) {
    ProjectiveMap singular = ProjectiveMap::Zero();
    singular.topRows<2>() = map;  // every point is at infinity, or 0 / 0
    for (Border border : {Border::replicate(), Border::constant(3)}) {
      on_every_target([&] {
        Image<float> out(20, 3);
        auto check = [&] {
          for (int x = 0; x < 20; ++x) EXPECT_TRUE(out(x, 1) >= 0 && out(x, 1) <= 255);
        };
        warp_affine(bytes, map, out, border);
        check();
        warp_affine(floats, map, out, border);
        check();
        warp_projective(bytes, singular, out, border);
        check();
        warp_projective(floats, singular, out, border);
        check();
      });
    }
  }
}

TEST(Warp, RefusesAnEmptyPictureAndAMapThatIsNotFinite) {
  Image<float> out(4, 4);
  const auto src = noise<std::uint8_t>(4, 4, 8);
  AffineMap map = AffineMap::Identity();
  EXPECT_THROW(warp_affine(ByteView(), map, out), Error);
  map(0, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(warp_affine(src, map, out), Error);
  EXPECT_THROW(scalar::warp_affine(src, map, out), Error);
  map(0, 2) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(warp_projective(src, projective(map, 0), out), Error);
}

}  // namespace
}  // namespace sdm::image
