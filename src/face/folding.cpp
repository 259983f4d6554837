#include "face/folding.h"

#include <algorithm>

#include "image/simd.h"
#include "sdm/image/gradient_channels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "face/folding.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sdm::face::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

void fold_pairs(const Folding& folding, const float* f, float* sums, float* differences) {
#if HWY_TARGET == HWY_SCALAR
  const auto size = static_cast<std::size_t>(folding.size());
  scalar::fold(folding, {f, static_cast<std::size_t>(folding.features())}, {sums, size},
               {differences, size});
#else
  const hn::FixedTag<float, 4> d;
  const auto store = [&](hn::Vec<decltype(d)> a, hn::Vec<decltype(d)> b, Index at) HWY_ATTR {
    hn::StoreU(hn::Add(a, b), d, sums + at);
    hn::StoreU(hn::Sub(a, b), d, differences + at);
  };
  const auto first = hn::FirstN(d, 1);
  Index at = 0;
  for (const Folding::Pair& pair : folding.pairs()) {
    const float *a = f + pair.first, *b = f + pair.second;
    // Bins 0..7 of the partner are 4 3 2 1 0 7 6 5 here.
    const auto low = hn::Shuffle0123(hn::LoadU(d, b + 1));
    const auto ends = hn::IfThenElse(first, hn::LoadU(d, b), hn::LoadU(d, b + 4));
    const auto high = hn::Shuffle2103(hn::Shuffle0123(ends));
    store(hn::LoadU(d, a), low, at);
    store(hn::LoadU(d, a + 4), high, at + 4);
    at += 8;
  }
  std::fill(sums + at, sums + folding.size(), 0.0F);
  std::fill(differences + at, differences + folding.size(), 0.0F);
#endif
}

void multiply_rows(const std::int8_t* values, const float* scale, Index rows, Index size,
                   const float* f, float* out) {
  const hn::CappedTag<float, 16> d;
  const hn::Rebind<std::int32_t, decltype(d)> wide;
  const hn::Rebind<std::int8_t, decltype(d)> narrow;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  const auto weight = [&](const std::int8_t* at) HWY_ATTR {
    return hn::ConvertTo(d, hn::PromoteTo(wide, hn::LoadU(narrow, at)));
  };
  Index r = 0;
  // Four rows at once share the loads of f.
  for (; r + 4 <= rows; r += 4) {
    const std::int8_t* row = values + r * size;
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (Index i = 0; i < size; i += lanes) {
      const auto x = hn::LoadU(d, f + i);
      s0 = hn::MulAdd(weight(row + i), x, s0);
      s1 = hn::MulAdd(weight(row + size + i), x, s1);
      s2 = hn::MulAdd(weight(row + 2 * size + i), x, s2);
      s3 = hn::MulAdd(weight(row + 3 * size + i), x, s3);
    }
    out[r] = scale[r] * hn::GetLane(hn::SumOfLanes(d, s0));
    out[r + 1] = scale[r + 1] * hn::GetLane(hn::SumOfLanes(d, s1));
    out[r + 2] = scale[r + 2] * hn::GetLane(hn::SumOfLanes(d, s2));
    out[r + 3] = scale[r + 3] * hn::GetLane(hn::SumOfLanes(d, s3));
  }
  for (; r < rows; ++r) {
    auto sum = hn::Zero(d);
    for (Index i = 0; i < size; i += lanes)
      sum = hn::MulAdd(weight(values + r * size + i), hn::LoadU(d, f + i), sum);
    out[r] = scale[r] * hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

}  // namespace
}  // namespace sdm::face::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::face {
namespace {
HWY_EXPORT(fold_pairs);
HWY_EXPORT(multiply_rows);

constexpr Index kCell = image::kBins;

int mirrored_bin(int k) { return (4 - k) & 7; }

}  // namespace

Folding::Folding(Index points, int cells, const std::vector<int>& mirror)
    : features_(points * cells * cells * kCell), mirrored_(!mirror.empty()) {
  Index used = features_;
  if (mirrored_) {
    const auto offset = [&](Index point, int row, int column) {
      return static_cast<std::int32_t>(((point * cells + row) * cells + column) * kCell);
    };
    for (Index p = 0; p < points; ++p)
      for (int row = 0; row < cells; ++row)
        for (int column = 0; column < cells; ++column) {
          const Pair pair{offset(p, row, column),
                          offset(mirror[static_cast<std::size_t>(p)], row, cells - 1 - column)};
          if (pair.first <= pair.second) pairs_.push_back(pair);
        }
    used = static_cast<Index>(pairs_.size()) * kCell;
  }
  size_ = (used + kFoldedLanes - 1) / kFoldedLanes * kFoldedLanes;
}

void Folding::fold_weights(std::span<const float> row, int sign, std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0F);
  if (!mirrored_) {
    std::copy(row.begin(), row.end(), out.begin());
    return;
  }
  std::size_t at = 0;
  for (const Pair& pair : pairs_)
    for (int k = 0; k < kCell; ++k) {
      const float a = row[static_cast<std::size_t>(pair.first + k)];
      const float b = row[static_cast<std::size_t>(pair.second + mirrored_bin(k))];
      // A cell that is its own partner meets each of its pairs of bins twice.
      out[at++] = (a + static_cast<float>(sign) * b) * (pair.first == pair.second ? 0.25F : 0.5F);
    }
}

double Folding::asymmetry(std::span<const float> row, int sign) const {
  double wrong = 0, total = 0;
  for (const Pair& pair : pairs_)
    for (int k = 0; k < kCell; ++k) {
      const double a = static_cast<double>(row[static_cast<std::size_t>(pair.first + k)]);
      const double b =
          static_cast<double>(row[static_cast<std::size_t>(pair.second + mirrored_bin(k))]);
      wrong += (a - sign * b) * (a - sign * b) / 2;
      total += a * a + b * b;
    }
  return total > 0 ? wrong / total : 0;
}

void fold(const Folding& folding, std::span<const float> features, std::span<float> sums,
          std::span<float> differences) {
  if (!folding.mirrored()) return scalar::fold(folding, features, sums, differences);
  HWY_DYNAMIC_DISPATCH(fold_pairs)(folding, features.data(), sums.data(), differences.data());
}

void multiply_i8(const std::int8_t* values, const float* scale, Index rows, Index size,
                 const float* f, float* out) {
  HWY_DYNAMIC_DISPATCH(multiply_rows)(values, scale, rows, size, f, out);
}

namespace scalar {

void fold(const Folding& folding, std::span<const float> features, std::span<float> sums,
          std::span<float> differences) {
  if (!folding.mirrored()) {
    const auto rest = std::copy(features.begin(), features.end(), sums.begin());
    std::fill(rest, sums.end(), 0.0F);
    return;
  }
  std::fill(sums.begin(), sums.end(), 0.0F);
  std::fill(differences.begin(), differences.end(), 0.0F);
  std::size_t at = 0;
  for (const Folding::Pair& pair : folding.pairs())
    for (int k = 0; k < kCell; ++k, ++at) {
      const float a = features[static_cast<std::size_t>(pair.first + k)];
      const float b = features[static_cast<std::size_t>(pair.second + mirrored_bin(k))];
      sums[at] = a + b;
      differences[at] = a - b;
    }
}

void multiply_i8(const std::int8_t* values, const float* scale, Index rows, Index size,
                 const float* f, float* out) {
  for (Index r = 0; r < rows; ++r) {
    float sum = 0;
    for (Index i = 0; i < size; ++i) sum += static_cast<float>(values[r * size + i]) * f[i];
    out[r] = scale[r] * sum;
  }
}

}  // namespace scalar
}  // namespace sdm::face
#endif  // HWY_ONCE
