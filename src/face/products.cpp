#include "face/products.h"

#include "base/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "face/products.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sdm::face::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
// So many vectors of rows, from the first on, in registers over all columns.
template <int kVectors, class F>
HWY_INLINE void add_rows(F tag, const float* matrix, Index rows, Index columns, const float* x,
                         float* out) {
  const auto lanes = static_cast<Index>(hn::Lanes(tag));
  hn::Vec<F> sum[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = hn::LoadU(tag, out + v * lanes);
  for (Index c = 0; c < columns; ++c, matrix += rows) {
    const auto factor = hn::Set(tag, x[c]);
    for (int v = 0; v < kVectors; ++v)
      sum[v] = hn::MulAdd(factor, hn::LoadU(tag, matrix + v * lanes), sum[v]);
  }
  for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[v], tag, out + v * lanes);
}

// As many rows as whole vectors hold, from row r on; gives the next one.
template <class F>
Index add_vectors(F tag, const float* matrix, Index rows, Index columns, const float* x, float* out,
                  Index r) {
  const auto lanes = static_cast<Index>(hn::Lanes(tag));
  for (; r + 4 * lanes <= rows; r += 4 * lanes)
    add_rows<4>(tag, matrix + r, rows, columns, x, out + r);
  for (; r + 2 * lanes <= rows; r += 2 * lanes)
    add_rows<2>(tag, matrix + r, rows, columns, x, out + r);
  for (; r + lanes <= rows; r += lanes) add_rows<1>(tag, matrix + r, rows, columns, x, out + r);
  return r;
}

void add_columns(const float* matrix, Index rows, Index columns, const float* x, float* out) {
  Index r = add_vectors(hn::CappedTag<float, 16>(), matrix, rows, columns, x, out, 0);
  r = add_vectors(hn::CappedTag<float, 8>(), matrix, rows, columns, x, out, r);
  r = add_vectors(hn::CappedTag<float, 4>(), matrix, rows, columns, x, out, r);
  add_vectors(hn::CappedTag<float, 1>(), matrix, rows, columns, x, out, r);
}

float dot_of(const float* a, const float* b, Index size) {
  const hn::CappedTag<float, 8> tag;
  const auto lanes = static_cast<Index>(hn::Lanes(tag));
  auto even = hn::Zero(tag), odd = even;
  Index i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    even = hn::MulAdd(hn::LoadU(tag, a + i), hn::LoadU(tag, b + i), even);
    odd = hn::MulAdd(hn::LoadU(tag, a + i + lanes), hn::LoadU(tag, b + i + lanes), odd);
  }
  for (; i + lanes <= size; i += lanes)
    even = hn::MulAdd(hn::LoadU(tag, a + i), hn::LoadU(tag, b + i), even);
  float sum = hn::GetLane(hn::SumOfLanes(tag, hn::Add(even, odd)));
  for (; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace
}  // namespace sdm::face::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::face {
HWY_EXPORT(add_columns);
HWY_EXPORT(dot_of);

void add_product(const Matrix<float>& matrix, const float* x, float* out) {
  HWY_DYNAMIC_DISPATCH(add_columns)(matrix.data(), matrix.rows(), matrix.cols(), x, out);
}

float dot(const float* a, const float* b, Index size) {
  return HWY_DYNAMIC_DISPATCH(dot_of)(a, b, size);
}

}  // namespace sdm::face
#endif
