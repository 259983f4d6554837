#pragma once

#include "sdm/image/cell_grid.h"
#include "sdm/image/grey.h"
#include "sdm/image/hog.h"
#include "sdm/image/warp.h"

/// What each vector kernel computes, written as plainly as it can be: the reference of the tests
/// and the way out for pictures too small or too far apart in memory for the vector code. Contracts
/// are those of the functions with the same name.
namespace sdm::image::scalar {

void to_grey(const ColourView<std::uint8_t>& src, ImageView<std::uint8_t> dst);
void to_grey(const ColourView<std::uint16_t>& src, ImageView<std::uint8_t> dst);
void to_grey(ImageView<const std::uint16_t> src, ImageView<std::uint8_t> dst);

void warp_affine(ByteView src, const AffineMap& map, ImageView<float> dst, Border border = {});
void warp_affine(ByteView src, const AffineMap& map, ImageView<std::int16_t> dst,
                 Border border = {});
void warp_affine(ByteView src, const AffineMap& map, ImageView<std::uint8_t> dst,
                 Border border = {});
void warp_affine(FloatView src, const AffineMap& map, ImageView<float> dst, Border border = {});
void warp_projective(ByteView src, const ProjectiveMap& map, ImageView<float> dst,
                     Border border = {});
void warp_projective(ByteView src, const ProjectiveMap& map, ImageView<std::int16_t> dst,
                     Border border = {});
void warp_projective(ByteView src, const ProjectiveMap& map, ImageView<std::uint8_t> dst,
                     Border border = {});
void warp_projective(FloatView src, const ProjectiveMap& map, ImageView<float> dst,
                     Border border = {});

void shrink(ByteView src, int factor, ImageView<std::uint8_t> dst);

/// Pixels are rounded to kPixelParts of a grey level, so that a difference of two is in 1/256 grey
/// level per pixel; sqrt(2) - 1 in 1/32768.
inline constexpr std::int16_t kRootLess1 = 13573;
void gradient_channels(FloatView src, GradientChannels& channels);
void gradient_channels(PartsView src, GradientChannels& channels);
void gradient_channels(ByteView src, GradientChannels& channels);

void hog(const GradientChannels& channels, const Eigen::Ref<const Eigen::Matrix2Xf>& points,
         const HogOptions& options, std::span<float> out);
void hog(const GradientChannels& channels, const Eigen::Ref<const Eigen::Matrix2Xf>& points,
         const HogOptions& options, float step, std::span<std::int16_t> out);
void dense_hog(FloatView src, const DenseHogOptions& options, std::span<float> out);
void dense_hog(ByteView src, const DenseHogOptions& options, std::span<float> out);

/// How the votes of cells become values: v * full / sqrt(sum over 3 x 3 cells of |v|^2 + epsilon).
struct CellNorm {
  int margin;
  float epsilon, full;
};
CellNorm cell_norm(int cell, int margin);
/// The votes alone, slanted ones not yet times the root of 2.
void sum_cells(ByteView src, int cell, int margin, CellGrid& grid);
void cell_grid(ByteView src, int cell, int margin, CellGrid& grid);

}  // namespace sdm::image::scalar
