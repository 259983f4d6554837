#pragma once

#include <cstdint>
#include <vector>

#include "sdm/image/image_view.h"

namespace sdm::image {

/// Orientation bins: directions 0, 45, ... 315 degrees from the x axis towards y (downwards).
inline constexpr int kBins = 8;

/// Sums of the eight votes over some pixels, in 1/256 grey level.
struct alignas(32) Votes {
  std::int32_t bin[kBins];
};

/// Integral images of the eight orientation channels of a picture, bins side by side, so that the
/// votes of any rectangle are four loads and three subtractions.
///
/// A pixel's gradient g (half the difference of the two neighbours along each axis; replicated
/// borders) votes for the two directions e_k, e_k+1 next to it with its coordinates in that basis:
/// g = v_k e_k + v_k+1 e_k+1, both >= 0. This is linear in g between two directions, sums to |g| up
/// to 8 %, and needs neither root nor arctangent: v_0 = max(0, gx - |gy|),
/// v_1 = max(0, sqrt(2) min(gx, gy)), and so on by symmetry. Landmark regression errs as much with
/// it as with |g| shared linearly in the angle (measured on held-out faces: equal in three digits).
///
/// The sums are 32-bit integers: they wrap around but their differences are exact, whatever the
/// size of the picture, where float sums lose a cell's digits on large ones; and the running sum
/// along a row waits one cycle for an integer addition, three or four for a float.
class GradientChannels {
 public:
  /// Room for pictures up to this size; nothing is allocated later.
  GradientChannels(int max_width, int max_height);

  int width() const { return width_; }
  int height() const { return height_; }
  /// Sum over all pixels with coordinates below (x, y); 0 <= x <= width, 0 <= y <= height.
  const Votes& at(int x, int y) const { return row(y)[x]; }
  const Votes* row(int y) const { return votes_.data() + std::ptrdiff_t(y) * (width_ + 1); }
  Votes* row(int y) { return votes_.data() + std::ptrdiff_t(y) * (width_ + 1); }
  std::ptrdiff_t stride() const { return width_ + 1; }

  /// Takes a size and clears the first row and column. Throws: beyond the room, or empty.
  void reset(int width, int height);

 private:
  int width_ = 0;
  int height_ = 0;
  std::vector<Votes> votes_;
};

/// Fills `channels` from a picture. Needs: grey values of 0..255, which are rounded to 1/128 (those
/// of a picture of another range overflow 16 bits). Throws: picture empty or larger than the room.
/// Thread-safe on different channels. Allocates nothing. The same on every target.
void gradient_channels(FloatView src, GradientChannels& channels);
void gradient_channels(ByteView src, GradientChannels& channels);
/// @cond Doxygen takes this for the one of bytes.
void gradient_channels(PartsView src, GradientChannels& channels);
/// @endcond

}  // namespace sdm::image
