#include "sdm/image/cell_grid.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/simd.h"
#include "image/checks.h"
#include "image/scalar.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/cell_grid.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sdm::image::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
using I16 = hn::ScalableTag<std::int16_t>;
using U8 = hn::Rebind<std::uint8_t, I16>;
using V = hn::Vec<I16>;

constexpr int kPad = 128;  // values that a kernel may touch past a row's end
constexpr int kMaxCell = CellGrid::kMaxCell;

V pixels(const std::uint8_t* p) {
#if HWY_TARGET == HWY_WASM
  return V{wasm_u16x8_load8x8(p)};  // clang 14 makes two of it
#else
  return hn::PromoteTo(I16(), hn::LoadU(U8(), p));
#endif
}

// Votes of `cell` rows of pixels, summed down each column: sums[bin * width + x]. rows[0] is the
// row above the first; each begins with the pixel left of the picture.
void sum_columns(const std::uint8_t* const* rows, int cell, int width, std::ptrdiff_t stride,
                 std::int16_t* sums) {
  const V zero = hn::Zero(I16());
  for (int x = 0; x < width; x += int(hn::Lanes(I16()))) {
    V sum0 = zero, sum1 = zero, sum2 = zero, sum3 = zero;
    V sum4 = zero, sum5 = zero, sum6 = zero, sum7 = zero;
    for (int y = 1; y <= cell; ++y) {
      const V gx = hn::Sub(pixels(rows[y] + x + 2), pixels(rows[y] + x));
      const V gy = hn::Sub(pixels(rows[y + 1] + x + 1), pixels(rows[y - 1] + x + 1));
      const V right = hn::Max(gx, zero), down = hn::Max(gy, zero);
      const V left = hn::Sub(right, gx), up = hn::Sub(down, gy);
      // The straight votes carry the longer side's surplus, the slanted ones what the sides share.
      const V wide = hn::Sub(hn::Add(right, left), hn::Add(down, up));
      const V tall = hn::Sub(zero, wide);
      sum0 = hn::Add(sum0, hn::Max(hn::Min(wide, right), zero));
      sum1 = hn::Add(sum1, hn::Min(right, down));
      sum2 = hn::Add(sum2, hn::Max(hn::Min(tall, down), zero));
      sum3 = hn::Add(sum3, hn::Min(left, down));
      sum4 = hn::Add(sum4, hn::Max(hn::Min(wide, left), zero));
      sum5 = hn::Add(sum5, hn::Min(left, up));
      sum6 = hn::Add(sum6, hn::Max(hn::Min(tall, up), zero));
      sum7 = hn::Add(sum7, hn::Min(right, up));
    }
    const V all[kBins] = {sum0, sum1, sum2, sum3, sum4, sum5, sum6, sum7};
    for (int k = 0; k < kBins; ++k) hn::StoreU(all[k], I16(), sums + k * stride + x);
  }
}

// Sums of `cell` neighbouring columns in place, then one value a cell.
void sum_cells(std::int16_t* sums, std::ptrdiff_t stride, int cells, int cell, std::int16_t* out) {
  const int width = cells * cell;
  for (int k = 0; k < kBins; ++k) {
    std::int16_t* row = sums + k * stride;
    for (int x = 0; x < width; x += int(hn::Lanes(I16()))) {
      V sum = hn::LoadU(I16(), row + x);
      for (int i = 1; i < cell; ++i) sum = hn::Add(sum, hn::LoadU(I16(), row + x + i));
      hn::StoreU(sum, I16(), row + x);
    }
  }
  for (int c = 0; c < cells; ++c)
    for (int k = 0; k < kBins; ++k) out[c * kBins + k] = sums[k * stride + c * cell];
}
#endif

using F8 = hn::CappedTag<float, kBins>;
using W8 = hn::Rebind<std::int16_t, F8>;
using I8 = hn::RebindToSigned<F8>;
HWY_ALIGN constexpr float kLength[kBins] = {1, 1.41421356F, 1, 1.41421356F,
                                            1, 1.41421356F, 1, 1.41421356F};

hn::Vec<F8> votes(const std::int16_t* cell, int first) {
  return hn::Mul(hn::ConvertTo(F8(), hn::PromoteTo(I8(), hn::LoadU(W8(), cell + first))),
                 hn::Load(F8(), kLength + first));
}

void normalise(const scalar::CellNorm& norm, CellGrid& grid) {
  const int lanes = int(hn::Lanes(F8())), columns = grid.columns(), rows = grid.rows();
  const int left = norm.margin, right = columns - norm.margin;
  // Energies of the cells; a cell wide border of nothing around them.
  const std::ptrdiff_t stride = columns + 2;
  float* energies = grid.energies(std::size_t(stride) * std::size_t(rows + 2));
  std::fill_n(energies, stride * (rows + 2), 0.F);
  for (int y = norm.margin; y < rows - norm.margin; ++y)
    for (int x = left; x < right; ++x) {
      auto sum = hn::Zero(F8());
      for (int k = 0; k < kBins; k += lanes) {
        const auto v = votes(grid.at(x, y), k);
        sum = hn::MulAdd(v, v, sum);
      }
      energies[(y + 1) * stride + x + 1] = hn::GetLane(hn::SumOfLanes(F8(), sum));
    }
  const auto most = hn::Set(F8(), 255.F);
  // At 1.5 x 2^23 a float has no room for a fraction: adding it rounds, and leaves the whole number
  // in the low bits, where a conversion takes several instructions.
  const auto rounder = hn::Set(F8(), 12582912.F);
  for (int y = norm.margin; y < rows - norm.margin; ++y) {
    const float* e = energies + y * stride;
    for (int x = left; x < right; ++x) {
      float sum = norm.epsilon;
      for (int i = 0; i < 3; ++i) sum += e[x + i] + e[x + i + stride] + e[x + i + 2 * stride];
      const auto scale = hn::Set(F8(), norm.full / std::sqrt(sum));
      std::int16_t* cell = grid.row(y) + std::ptrdiff_t(x) * kBins;
      for (int k = 0; k < kBins; k += lanes) {
        const auto v = hn::Min(hn::Mul(votes(cell, k), scale), most);
        const auto whole = hn::BitCast(I8(), hn::Add(v, rounder));
        hn::StoreU(hn::DemoteTo(W8(), hn::Sub(whole, hn::BitCast(I8(), rounder))), W8(), cell + k);
      }
    }
  }
}

void fill(ByteView src, int cell, int margin, CellGrid& grid) {
#if HWY_TARGET == HWY_SCALAR
  scalar::sum_cells(src, cell, margin, grid);
#else
  const int cells = src.width / cell, rows = src.height / cell, width = cells * cell;
  const std::ptrdiff_t padded = width + kPad;
  std::uint8_t* lines = grid.bytes(std::size_t(padded) * (kMaxCell + 2));
  std::int16_t* sums = grid.sums(std::size_t(padded) * kBins);
  const std::uint8_t* line[kMaxCell + 2];
  const auto load = [&](int y, int slot) {
    const std::uint8_t* from = src.row(std::clamp(y, 0, src.height - 1));
    std::uint8_t* to = lines + slot * padded;
    to[0] = from[0];
    std::memcpy(to + 1, from, std::size_t(width));
    to[1 + width] = from[std::min(width, src.width - 1)];
    line[slot] = to;
  };
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < cell + 2; ++i) load(r * cell + i - 1, i);
    sum_columns(line, cell, width, padded, sums);
    sum_cells(sums, padded, cells, cell, grid.row(r + margin) + std::ptrdiff_t(margin) * kBins);
  }
#endif
  normalise(scalar::cell_norm(cell, margin), grid);
}

}  // namespace
}  // namespace sdm::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::image {
namespace {
HWY_EXPORT(fill);

template <class T>
T* grown(std::vector<T>& room, std::size_t size) {
  if (room.size() < size) room.resize(size);
  return room.data();
}
}  // namespace

void CellGrid::reset(int columns, int rows) {
  columns_ = columns;
  rows_ = rows;
  const std::size_t size = std::size_t(columns) * std::size_t(rows) * kBins;
  std::fill_n(grown(values_, size + kPast), size + kPast, std::int16_t(0));
}

std::uint8_t* CellGrid::bytes(std::size_t size) { return grown(bytes_, size); }
std::int16_t* CellGrid::sums(std::size_t size) { return grown(sums_, size); }
float* CellGrid::energies(std::size_t size) { return grown(energies_, size); }

void cell_grid(ByteView src, int cell, int margin, CellGrid& grid) {
  checks::cell_grid(src, cell, margin);
  grid.reset(src.width / cell + 2 * margin, src.height / cell + 2 * margin);
  if (src.width >= cell && src.height >= cell) HWY_DYNAMIC_DISPATCH(fill)(src, cell, margin, grid);
}

}  // namespace sdm::image
#endif  // HWY_ONCE
