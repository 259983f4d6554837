#include <algorithm>
#include <cmath>

#include "base/simd.h"
#include "image/checks.h"
#include "sdm/image/hog.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/dense_hog.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "image/gradients-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sdm::image::HWY_NAMESPACE {
namespace {

using F = hn::ScalableTag<float>;
using VF = hn::Vec<F>;
using F8 = hn::CappedTag<float, kBins>;
using I8 = hn::RebindToSigned<F8>;
constexpr int kMaxCell = DenseHogOptions::kMaxCell;
constexpr int kMaxCells = DenseHogOptions::kMaxCells;

// Votes of `height` rows of pixels, summed down each column: columns[bin][x].
using Columns = float[kBins][kStripe + kPad];

void sum_columns(const PaddedRow* rows, int height, int width, Columns& columns) {
  const VF zero = hn::Zero(F());
  for (int x = 0; x < width; x += int(hn::Lanes(F()))) {
    VF sum0 = zero, sum1 = zero, sum2 = zero, sum3 = zero;
    VF sum4 = zero, sum5 = zero, sum6 = zero, sum7 = zero;
    for (int y = 1; y <= height; ++y) {
      const VF gx = hn::Sub(hn::LoadU(F(), rows[y] + x + 2), hn::LoadU(F(), rows[y] + x));
      const VF gy =
          hn::Sub(hn::LoadU(F(), rows[y + 1] + x + 1), hn::LoadU(F(), rows[y - 1] + x + 1));
      // The parts of the gradient above zero and below it.
      const VF right = hn::Max(gx, zero), down = hn::Max(gy, zero);
      const VF left = hn::Sub(right, gx), up = hn::Sub(down, gy);
      // The straight votes carry the longer side's surplus, the slanted ones what the sides share.
      const VF wide = hn::Sub(hn::Add(right, left), hn::Add(down, up));
      const VF tall = hn::Sub(zero, wide);
      sum0 = hn::Add(sum0, hn::Max(hn::Min(wide, right), zero));
      sum1 = hn::Add(sum1, hn::Min(right, down));
      sum2 = hn::Add(sum2, hn::Max(hn::Min(tall, down), zero));
      sum3 = hn::Add(sum3, hn::Min(left, down));
      sum4 = hn::Add(sum4, hn::Max(hn::Min(wide, left), zero));
      sum5 = hn::Add(sum5, hn::Min(left, up));
      sum6 = hn::Add(sum6, hn::Max(hn::Min(tall, up), zero));
      sum7 = hn::Add(sum7, hn::Min(right, up));
    }
    const VF root = hn::Set(F(), 1.41421356237f);
    hn::StoreU(sum0, F(), columns[0] + x);
    hn::StoreU(hn::Mul(sum1, root), F(), columns[1] + x);
    hn::StoreU(sum2, F(), columns[2] + x);
    hn::StoreU(hn::Mul(sum3, root), F(), columns[3] + x);
    hn::StoreU(sum4, F(), columns[4] + x);
    hn::StoreU(hn::Mul(sum5, root), F(), columns[5] + x);
    hn::StoreU(sum6, F(), columns[6] + x);
    hn::StoreU(hn::Mul(sum7, root), F(), columns[7] + x);
  }
}

// Cells from `width` columns each, bins side by side.
void sum_cells(const Columns& columns, int cells, int width, float scale, float* out) {
  const int lanes = int(hn::Lanes(F8()));
  const auto bins = hn::Mul(hn::Iota(I8(), 0), hn::Set(I8(), kStripe + kPad));
  for (int first = 0; first < kBins; first += lanes) {
    for (int c = 0; c < cells; ++c) {
      auto sum = hn::Zero(F8());
      for (int x = c * width; x < (c + 1) * width; ++x) {
        sum = hn::Add(sum, hn::GatherIndex(F8(), columns[first] + x, bins));
      }
      hn::StoreU(hn::Mul(sum, hn::Set(F8(), scale)), F8(), out + c * kBins + first);
    }
  }
}

// Divides each cell by what the cells around it hold.
void normalise_blocks(int columns, int rows, const DenseHogOptions& o, float* out) {
  const int lanes = int(hn::Lanes(F8()));
  const bool l1 = o.normalisation == Normalisation::sqrt_l1;
  float energy[kMaxCells * kMaxCells];
  for (int i = 0; i < columns * rows; ++i) {
    auto sum = hn::Zero(F8());
    for (int k = 0; k < kBins; k += lanes) {
      const auto v = hn::LoadU(F8(), out + i * kBins + k);
      sum = l1 ? hn::Add(sum, v) : hn::MulAdd(v, v, sum);
    }
    energy[i] = hn::GetLane(hn::SumOfLanes(F8(), sum));
  }
  const auto limit = hn::Set(F8(), o.normalisation == Normalisation::l2_hys ? 0.2f : 3e38f);
  for (int r = 0; r < rows; ++r) {
    // Sums over the rows of the block, one a column.
    float strip[kMaxCells];
    std::fill_n(strip, columns, 0.f);
    for (int y = std::max(r - o.radius, 0); y <= std::min(r + o.radius, rows - 1); ++y) {
      for (int c = 0; c < columns; ++c)
        strip[c] += energy[y * columns + c];  // cppcheck-suppress uninitvar
    }
    for (int c = 0; c < columns; ++c) {
      float sum = 0;
      for (int x = std::max(c - o.radius, 0); x <= std::min(c + o.radius, columns - 1); ++x) {
        sum += strip[x];
      }
      float* cell = out + (r * columns + c) * kBins;
      const auto scale =
          hn::Set(F8(), l1 ? 1 / (sum + o.epsilon) : 1 / std::sqrt(sum + o.epsilon * o.epsilon));
      for (int k = 0; k < kBins; k += lanes) {
        const auto v = hn::Mul(hn::LoadU(F8(), cell + k), scale);
        hn::StoreU(l1 ? hn::Sqrt(v) : hn::Min(v, limit), F8(), cell + k);
      }
    }
  }
}

template <class T>
void dense(ImageView<const T> src, const DenseHogOptions& o, float* out) {
  const int columns = o.columns(src.width), rows = o.rows(src.height);
  const int left = (src.width - columns * o.cell) / 2, top = (src.height - rows * o.cell) / 2;
  const int step = kStripe / o.cell;
  const float scale = 0.5f / float(o.cell * o.cell);  // half: neighbours are two pixels apart
  HWY_ALIGN PaddedRow pixels[kMaxCell + 2];
  HWY_ALIGN Columns sums;
  for (int c = 0; c < columns; c += step) {
    const int cells = std::min(step, columns - c);
    for (int r = 0; r < rows; ++r) {
      for (int y = -1; y <= o.cell; ++y) {
        load_row(src, left + c * o.cell, top + r * o.cell + y, cells * o.cell, pixels[y + 1]);
      }
      sum_columns(pixels, o.cell, cells * o.cell, sums);
      sum_cells(sums, cells, o.cell, scale, out + (r * columns + c) * kBins);
    }
  }
  if (o.normalisation != Normalisation::none) normalise_blocks(columns, rows, o, out);
}

void dense_of_float(FloatView src, const DenseHogOptions& o, float* out) { dense(src, o, out); }
void dense_of_byte(ByteView src, const DenseHogOptions& o, float* out) { dense(src, o, out); }

}  // namespace
}  // namespace sdm::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::image {
namespace {
HWY_EXPORT(dense_of_float);
HWY_EXPORT(dense_of_byte);
}  // namespace

void dense_hog(FloatView src, const DenseHogOptions& options, std::span<float> out) {
  checks::dense_hog(src.width, src.height, options, out.size());
  HWY_DYNAMIC_DISPATCH(dense_of_float)(src, options, out.data());
}
void dense_hog(ByteView src, const DenseHogOptions& options, std::span<float> out) {
  checks::dense_hog(src.width, src.height, options, out.size());
  HWY_DYNAMIC_DISPATCH(dense_of_byte)(src, options, out.data());
}

}  // namespace sdm::image
#endif  // HWY_ONCE
