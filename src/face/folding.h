#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sdm/base/types.h"
#include "sdm/face/recipe.h"

namespace sdm::face {

/// Patch values in the basis of a mirror. The values come in cells of eight bins; seen in a mirror,
/// a cell becomes the cell at the other end of its row in the partner's patch, and direction k
/// becomes (4 - k) & 7. Of every such pair of cells this keeps the sum and the difference.
class Folding {
 public:
  /// Without a mirror nothing is folded.
  Folding(Index points, int cells, const std::vector<int>& mirror);
  /// Of what a stage sees of a face with so many points.
  Folding(const StageRecipe& stage, Index points, const std::vector<int>& mirror);

  bool mirrored() const { return mirrored_; }
  Index features() const { return features_; }
  /// Of the sums, and as many differences: filled up with zeros to whole vectors.
  Index size() const { return size_; }

  struct Pair {
    std::int32_t first, second;  // offsets of the cells
  };
  const std::vector<Pair>& pairs() const { return pairs_; }

  /// Weights of a row that treats both sides alike, for the sums (sign 1) or differences (-1).
  void fold_weights(std::span<const float> row, int sign, std::span<float> out) const;
  /// The share of a row's energy that has the other sign.
  double asymmetry(std::span<const float> row, int sign) const;

 private:
  Index features_, size_;
  bool mirrored_;
  std::vector<Pair> pairs_;
};

/// sums[i] = f[i] + f[partner], differences likewise; both of folding.size(). Without a mirror the
/// sums are the values themselves and there are no differences.
void fold(const Folding& folding, std::span<const float> features, std::span<float> sums,
          std::span<float> differences);

/// Rows are filled up to a multiple of this.
inline constexpr Index kFoldedLanes = 64;

/// The step of 16-bit features, so many patches normalised in this way, with which neither their
/// sums and differences nor sums of their products with 8-bit numbers overflow.
float narrow_step(const image::HogOptions& patch, Index patches);

/// fold() of features in such steps.
void fold(const Folding& folding, std::span<const std::int16_t> features,
          std::span<std::int16_t> sums, std::span<std::int16_t> differences);

/// out[r] = step * scale[r] * sum_i values[r * size + i] f[i]. `size` is a multiple of
/// kFoldedLanes. The sums are exact.
void multiply_i8(const std::int8_t* values, const float* scale, Index rows, Index size,
                 const std::int16_t* f, float step, float* out);

// The same, written as plainly as can be.
namespace scalar {
void fold(const Folding& folding, std::span<const float> features, std::span<float> sums,
          std::span<float> differences);
void fold(const Folding& folding, std::span<const std::int16_t> features,
          std::span<std::int16_t> sums, std::span<std::int16_t> differences);
void multiply_i8(const std::int8_t* values, const float* scale, Index rows, Index size,
                 const std::int16_t* f, float step, float* out);
}  // namespace scalar

}  // namespace sdm::face
