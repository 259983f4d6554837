#include "descent/block_kernels.h"

#define SDM_DOUBLE_KERNELS
#include "base/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "descent/block_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, always.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sdm::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<double>;
using V = hn::Vec<Tag>;
constexpr Index stride = kBlockColumns;

/// Rows x Vectors of the product in registers.
template <int kRows, int kVectors>
HWY_INLINE void tile(const double* a, Index inner, const double* b, double* out) {
  const Tag tag;
  const Index lanes = static_cast<Index>(hn::Lanes(tag));
  V sum[kRows][kVectors];
  for (auto& row : sum)
    for (V& value : row) value = hn::Zero(tag);
  for (Index k = 0; k < inner; ++k) {
    V right[kVectors];
    for (int v = 0; v < kVectors; ++v) right[v] = hn::LoadU(tag, b + k * stride + v * lanes);
    for (int r = 0; r < kRows; ++r) {
      const V left = hn::Set(tag, a[r * inner + k]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], tag, out + r * stride + v * lanes);
}

template <int kVectors>
HWY_INLINE void multiply_columns(const double* a, Index rows, Index inner, const double* b,
                                 double* out) {
  Index r = 0;
  for (; r + 5 <= rows; r += 5) tile<5, kVectors>(a + r * inner, inner, b, out + r * stride);
  for (; r < rows; ++r) tile<1, kVectors>(a + r * inner, inner, b, out + r * stride);
}

void multiply(const double* a, Index rows, Index inner, const double* b, Index columns,
              double* out) {
  const Index lanes = static_cast<Index>(hn::Lanes(Tag()));
  Index c = 0;
  for (; c + lanes < columns; c += 2 * lanes) multiply_columns<2>(a, rows, inner, b + c, out + c);
  if (c < columns) multiply_columns<1>(a, rows, inner, b + c, out + c);
}

template <bool kRoot>
void residual_as(const double* values, const double* target, const double* weight, Index rows,
                 Index columns, double* z, double* sums) {
  const Tag tag;
  const Index lanes = static_cast<Index>(hn::Lanes(tag));
  const V shift = hn::Set(tag, 0.375), zero = hn::Zero(tag);
  for (Index c = 0; c < columns; c += lanes) {
    V sum = zero;
    for (Index r = 0; r < rows; ++r) {
      V v = hn::LoadU(tag, values + r * stride + c);
      // A NaN stays one: Max would hide it.
      if (kRoot) v = hn::Sqrt(hn::IfThenElse(hn::Lt(v, zero), shift, v + shift));
      const V d = (v - hn::LoadU(tag, target + r * stride + c)) * hn::Set(tag, weight[r]);
      sum = hn::MulAdd(d, d, sum);
      hn::StoreU(d, tag, z + r * stride + c);
    }
    hn::StoreU(sum, tag, sums + c);
  }
}

void residual(bool root, const double* values, const double* target, const double* weight,
              Index rows, Index columns, double* z, double* sums) {
  if (root)
    residual_as<true>(values, target, weight, rows, columns, z, sums);
  else
    residual_as<false>(values, target, weight, rows, columns, z, sums);
}

void contract(const double* terms, const double* products, Index term_count, Index n, Index columns,
              double* delta) {
  const Tag tag;
  const Index lanes = static_cast<Index>(hn::Lanes(tag));
  for (Index c = 0; c < columns; c += lanes)
    for (Index i = 0; i < n; ++i) {
      V sum = hn::Zero(tag);
      for (Index l = 0; l < term_count; ++l)
        sum = hn::MulAdd(hn::LoadU(tag, terms + l * stride + c),
                         hn::LoadU(tag, products + (l * n + i) * stride + c), sum);
      hn::StoreU(sum, tag, delta + i * stride + c);
    }
}

}  // namespace
}  // namespace sdm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm {
HWY_EXPORT(multiply);
HWY_EXPORT(residual);
HWY_EXPORT(contract);

void multiply_block(const double* a, Index rows, Index inner, const double* b, Index columns,
                    double* out) {
  HWY_DYNAMIC_DISPATCH(multiply)(a, rows, inner, b, columns, out);
}

void residual_block(bool root, const double* values, const double* target, const double* weight,
                    Index rows, Index columns, double* z, double* sums) {
  HWY_DYNAMIC_DISPATCH(residual)(root, values, target, weight, rows, columns, z, sums);
}

void contract_block(const double* terms, const double* products, Index term_count, Index n,
                    Index columns, double* delta) {
  HWY_DYNAMIC_DISPATCH(contract)(terms, products, term_count, n, columns, delta);
}

}  // namespace sdm
#endif
