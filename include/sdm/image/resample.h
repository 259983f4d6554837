#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sdm/image/image_view.h"
#include "sdm/image/warp.h"

namespace sdm::image {

/// Area down-scaling by a whole factor: dst(u, v) is the rounded mean of factor x factor pixels,
/// exact on every target. Factor 2 makes the next level of an averaged pyramid.
/// Needs: dst.width = src.width / factor and dst.height = src.height / factor, rounded down (the
/// rest of the picture is dropped); factor 1..256; no overlap. Throws: otherwise. Thread-safe.
void shrink(ByteView src, int factor, ImageView<std::uint8_t> dst);

/// An affine warp that does not alias when the output is smaller than what it shows: the region
/// that the output sees is first shrunk by the power of two that brings the map's scale (root of
/// the determinant) under 2, then sampled bilinearly with replicated borders. With a scale under 2
/// it is warp_affine itself. This is how a large face comes onto a small canvas. One object per
/// thread: it owns the shrunk region.
class Resampler {
 public:
  /// Room for outputs up to this size under any similarity; a stronger shear grows it on first use.
  Resampler(int max_width, int max_height);

  /// `is_same`: the picture is that of the last call, so what was shrunk then need not be again.
  /// Throws as warp_affine. Allocates nothing (see the constructor).
  void operator()(ByteView src, const AffineMap& map, ImageView<float> dst, bool is_same = false);
  void operator()(ByteView src, const AffineMap& map, ImageView<std::int16_t> dst,
                  bool is_same = false);

  /// Pixels [first, last) along an axis.
  struct Range {
    int first = 0, last = 0;

    int size() const { return last - first; }
    bool holds(const Range& other) const { return first <= other.first && other.last <= last; }
    Range with(const Range& other) const {
      return {std::min(first, other.first), std::max(last, other.last)};
    }
  };

 private:
  template <class T>
  void draw(ByteView src, const AffineMap& map, ImageView<T> dst, bool is_same);
  void shrink_region(ByteView src, Range x, Range y, int step);

  int step_ = 0;  // of the shrunk region; 0: there is none
  Range x_, y_;
  ByteView region_view_;
  std::vector<std::uint8_t> region_;
};

}  // namespace sdm::image
