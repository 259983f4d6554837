#pragma once

#include <cstdint>

#include "sdm/base/types.h"
#include "sdm/image/image_view.h"

namespace sdm::image {

/// Where the *output* pixel (u, v) is read: (x, y) = A (u, v, 1).
using AffineMap = Eigen::Matrix<double, 2, 3>;
/// Where the *output* pixel (u, v) is read: (x, y) = (p, q) / r with (p, q, r) = H (u, v, 1).
using ProjectiveMap = Eigen::Matrix3d;

/// What the world outside the picture looks like: its nearest pixel, or one grey value.
struct Border {
  bool is_constant = false;
  float value = 0;

  static constexpr Border replicate() { return {}; }
  static constexpr Border constant(float value) { return {true, value}; }
};

/// dst(u, v) = src at map(u, v), by bilinear interpolation; a sample past the edge sees the border.
/// Bytes and parts (kPixelParts) are rounded to nearest. Coordinates are computed in single
/// precision: on a picture of 10,000 px a sample sits within a thousandth of a pixel. Needs: a
/// non-empty `src`; `dst` not overlapping it. A projective map may send pixels to infinity: they
/// read some border pixel (replicate) or the constant, and never memory outside the picture.
/// Throws: empty `src`, or a map with NaN or infinite entries. Thread-safe. Targets differ in the
/// last bits of the floats.
void warp_affine(ByteView src, const AffineMap& map, ImageView<float> dst, Border border = {});
void warp_affine(ByteView src, const AffineMap& map, ImageView<std::int16_t> dst,
                 Border border = {});
void warp_affine(ByteView src, const AffineMap& map, ImageView<std::uint8_t> dst,
                 Border border = {});
void warp_affine(FloatView src, const AffineMap& map, ImageView<float> dst, Border border = {});

void warp_projective(ByteView src, const ProjectiveMap& map, ImageView<float> dst,
                     Border border = {});
void warp_projective(ByteView src, const ProjectiveMap& map, ImageView<std::uint8_t> dst,
                     Border border = {});
void warp_projective(FloatView src, const ProjectiveMap& map, ImageView<float> dst,
                     Border border = {});

}  // namespace sdm::image
