#include "face/scan.h"

#include "base/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "face/scan.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sdm::face::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
using D = hn::CappedTag<std::int16_t, 16>;
using S = hn::RepartitionToWide<D>;
using Sum = hn::Vec<S>;

// Neighbouring windows share the loads of the weights.
template <int kWindows>
void windows(const std::int16_t* cells, std::ptrdiff_t stride, const ScanTemplate& one,
             std::int32_t* sums) {
  static_assert(kWindows == 1 || kWindows == 4);
  const int lanes = int(hn::Lanes(D()));
  constexpr int kBins = image::kBins;
  const Sum zero = hn::Zero(S());
  Sum a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero;
  for (int y = 0; y < one.rows(); ++y) {
    const std::int16_t *weights = one.row(y), *row = cells + y * stride;
    for (int i = 0; i < one.padded(); i += lanes) {
      const auto w = hn::LoadU(D(), weights + i);
      a0 = hn::ReorderWidenMulAccumulate(S(), w, hn::LoadU(D(), row + i), a0, b0);
      if constexpr (kWindows == 4) {
        a1 = hn::ReorderWidenMulAccumulate(S(), w, hn::LoadU(D(), row + i + kBins), a1, b1);
        a2 = hn::ReorderWidenMulAccumulate(S(), w, hn::LoadU(D(), row + i + 2 * kBins), a2, b2);
        a3 = hn::ReorderWidenMulAccumulate(S(), w, hn::LoadU(D(), row + i + 3 * kBins), a3, b3);
      }
    }
  }
  sums[0] = hn::GetLane(hn::SumOfLanes(S(), hn::Add(a0, b0)));
  if constexpr (kWindows == 4) {
    sums[1] = hn::GetLane(hn::SumOfLanes(S(), hn::Add(a1, b1)));
    sums[2] = hn::GetLane(hn::SumOfLanes(S(), hn::Add(a2, b2)));
    sums[3] = hn::GetLane(hn::SumOfLanes(S(), hn::Add(a3, b3)));
  }
}
#endif

void row_sums(const image::CellGrid& grid, int y, const ScanTemplate& one, int count,
              std::int32_t* sums) {
#if HWY_TARGET == HWY_SCALAR
  for (int x = 0; x < count; ++x) sums[x] = scalar::scan_at(grid, x, y, one);
#else
  int x = 0;
  for (; x + 4 <= count; x += 4) windows<4>(grid.at(x, y), grid.stride(), one, sums + x);
  for (; x < count; ++x) windows<1>(grid.at(x, y), grid.stride(), one, sums + x);
#endif
}

std::int32_t window_sum(const image::CellGrid& grid, int x, int y, const ScanTemplate& one) {
#if HWY_TARGET == HWY_SCALAR
  return scalar::scan_at(grid, x, y, one);
#else
  std::int32_t sum = 0;
  windows<1>(grid.at(x, y), grid.stride(), one, &sum);
  return sum;
#endif
}

}  // namespace
}  // namespace sdm::face::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::face {
namespace {
HWY_EXPORT(row_sums);
HWY_EXPORT(window_sum);

// Whole vectors of the widest target; a grid has as many values past its end.
constexpr int kLanes = 16;
static_assert(kLanes <= image::CellGrid::kPast);
}  // namespace

ScanTemplate::ScanTemplate(int columns, int rows, std::span<const std::int8_t> weights)
    : columns_(columns), rows_(rows) {
  const int values = columns * image::kBins;
  padded_ = (values + kLanes - 1) / kLanes * kLanes;
  weights_.assign(static_cast<std::size_t>(padded_) * static_cast<std::size_t>(rows), 0);
  for (int y = 0; y < rows; ++y)
    for (int i = 0; i < values; ++i)
      weights_[static_cast<std::size_t>(y * padded_ + i)] =
          static_cast<std::int16_t>(int{weights[static_cast<std::size_t>(y * values + i)]});
}

void scan_row(const image::CellGrid& grid, int y, const ScanTemplate& one,
              std::span<std::int32_t> sums) {
  HWY_DYNAMIC_DISPATCH(row_sums)
  (grid, y, one, grid.columns() - one.columns() + 1, sums.data());
}

std::int32_t scan_at(const image::CellGrid& grid, int x, int y, const ScanTemplate& one) {
  return HWY_DYNAMIC_DISPATCH(window_sum)(grid, x, y, one);
}

namespace scalar {

std::int32_t scan_at(const image::CellGrid& grid, int x, int y, const ScanTemplate& one) {
  std::int32_t sum = 0;
  for (int r = 0; r < one.rows(); ++r)
    for (int i = 0; i < one.columns() * image::kBins; ++i)
      sum += one.row(r)[i] * grid.at(x, y + r)[i];
  return sum;
}

}  // namespace scalar
}  // namespace sdm::face
#endif  // HWY_ONCE
