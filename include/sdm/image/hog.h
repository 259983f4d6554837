#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sdm/base/types.h"
#include "sdm/image/gradient_channels.h"
#include "sdm/image/image_view.h"

namespace sdm::image {

/// How the values v of a descriptor are made comparable (e = epsilon):
///   none    v, the mean vote per pixel, in grey levels
///   l2      v / sqrt(sum v^2 + e^2)
///   l2_hys  l2, clipped at 0.2, l2 again
///   sqrt_l1 sqrt(v / (sum v + e)), the best for faces
enum class Normalisation { none, l2, l2_hys, sqrt_l1 };

/// A descriptor of cells x cells squares of `cell` px around a point, kBins votes each.
struct HogOptions {
  static constexpr int kMaxCells = 8;
  /// On a larger patch the sums of 1/256 grey levels could leave 31 bits.
  static constexpr int kMaxPatch = 256;

  int cells = 4;  ///< cells a side, 1..kMaxCells; 4 gives the classic 4 x 4 x 8 = 128 values
  /// Side of a cell in px, 0.5 or more; need not be whole. The patch may have kMaxPatch px a side.
  float cell = 8;
  /// Cell edges between pixels are weighted exactly; otherwise they are rounded to whole pixels,
  /// which is a little faster and a little worse.
  bool subpixel = true;
  Normalisation normalisation = Normalisation::sqrt_l1;
  float epsilon = 1e-3f;  ///< what "flat" means, in grey levels; > 0

  int size() const { return cells * cells * kBins; }
  /// Throws Error naming the field that is out of range.
  void validate() const;
};

/// Descriptors at many points: out = points.cols() x options.size() values, a descriptor after the
/// other, inside it row of cells by row, cell by cell, bin by bin.
/// Outside the picture there is no gradient: a patch partly outside counts what is inside, a patch
/// wholly outside, or at a NaN or infinite point, is all zero.
/// Throws: bad options, or an output of another size. Thread-safe, allocates nothing.
void hog(const GradientChannels& channels, const Eigen::Ref<const Eigen::Matrix2Xf>& points,
         const HogOptions& options, std::span<float> out);
/// The same values in whole steps, rounded; what is beyond 16 bits becomes the largest number.
void hog(const GradientChannels& channels, const Eigen::Ref<const Eigen::Matrix2Xf>& points,
         const HogOptions& options, float step, std::span<std::int16_t> out);

/// HoG of a whole picture: its (width / cell) x (height / cell) cells, centred when pixels are left
/// over, each normalised by the cells at most `radius` away from it (a block of 3 x 3 by default).
/// In a block, l2_hys clips without the second l2.
struct DenseHogOptions {
  static constexpr int kMaxCell = 64;
  static constexpr int kMaxRadius = 1000;
  static constexpr int kMaxCells = 128;  ///< of a picture, a side

  int cell = 10;  ///< side of a cell in px, 1..kMaxCell
  /// Up to kMaxRadius. 0: each cell by itself; as large as the picture: one norm for all.
  int radius = 1;
  Normalisation normalisation = Normalisation::l2_hys;
  float epsilon = 1e-1f;  ///< as in HogOptions

  int columns(int width) const { return width / cell; }
  int rows(int height) const { return height / cell; }
  int size(int width, int height) const { return columns(width) * rows(height) * kBins; }
  /// Throws Error naming the field that is out of range.
  void validate() const;
};

/// Gives: cells row by row, kBins values each, into `out` of options.size(width, height) values.
/// The gradients are those of GradientChannels, but no integral image is built.
/// Throws: bad options, a picture smaller than a cell or of more than kMaxCells a side, or an
/// output of another size. Thread-safe, allocates nothing.
void dense_hog(FloatView src, const DenseHogOptions& options, std::span<float> out);
void dense_hog(ByteView src, const DenseHogOptions& options, std::span<float> out);

/// mirrored[i] = values[permutation[i]] for the descriptor of the picture seen in a mirror: cell
/// columns swap ends and direction k becomes (4 - k) & 7. `columns` x `rows` cells.
std::vector<int> mirror_permutation(int columns, int rows);

}  // namespace sdm::image
