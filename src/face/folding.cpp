#include "face/folding.h"

#include <algorithm>
#include <cmath>

#include "base/simd.h"
#include "face/mirror.h"
#include "sdm/image/gradient_channels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "face/folding.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

namespace sdm::face {
float step_of(float largest, std::size_t size);
}

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

float narrow(std::span<const float> f, std::span<std::int16_t> out) {
#if HWY_TARGET == HWY_SCALAR
  return scalar::to_i16(f, out);
#else
  const hn::CappedTag<float, 16> d;
  const hn::Rebind<std::int32_t, decltype(d)> wide;
  const hn::Rebind<std::int16_t, decltype(d)> half;
  const std::size_t lanes = hn::Lanes(d);
  auto top = hn::Zero(d);
  for (std::size_t i = 0; i < f.size(); i += lanes)
    top = hn::Max(top, hn::Abs(hn::LoadU(d, f.data() + i)));
  const float largest = hn::GetLane(hn::MaxOfLanes(d, top));
  const float step = step_of(largest, f.size());
  const auto inverse = hn::Set(d, 1 / step);
  for (std::size_t i = 0; i < f.size(); i += lanes) {
    const auto v = hn::NearestInt(hn::Mul(hn::LoadU(d, f.data() + i), inverse));
    hn::StoreU(hn::DemoteTo(half, hn::BitCast(wide, v)), half, out.data() + i);
  }
  return step;
#endif
}

void multiply_rows(const std::int8_t* values, const float* scale, Index rows, Index size,
                   const std::int16_t* f, float step, float* out) {
#if HWY_TARGET == HWY_SCALAR
  scalar::multiply_i8(values, scale, rows, size, f, step, out);
#else
  const hn::CappedTag<std::int16_t, 32> d;
  const hn::RepartitionToWide<decltype(d)> sums;
  const hn::Rebind<std::int8_t, decltype(d)> bytes;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  using Sum = hn::Vec<decltype(sums)>;
  const auto finish = [&](Sum a, Sum b, Index r) HWY_ATTR {
    const std::int32_t sum = hn::GetLane(hn::SumOfLanes(sums, hn::Add(a, b)));
    out[r] = step * scale[r] * static_cast<float>(sum);
  };
  const auto add = [&](const std::int8_t* at, hn::Vec<decltype(d)> x, Sum& a, Sum& b) HWY_ATTR {
    const auto w = hn::PromoteTo(d, hn::LoadU(bytes, at));
    a = hn::ReorderWidenMulAccumulate(sums, w, x, a, b);
  };
  Index r = 0;
  // Four rows at once share the loads of f.
  for (; r + 4 <= rows; r += 4) {
    const std::int8_t* row = values + r * size;
    Sum a0 = hn::Zero(sums), b0 = a0, a1 = a0, b1 = a0, a2 = a0, b2 = a0, a3 = a0, b3 = a0;
    for (Index i = 0; i < size; i += lanes) {
      const auto x = hn::LoadU(d, f + i);
      add(row + i, x, a0, b0);
      add(row + size + i, x, a1, b1);
      add(row + 2 * size + i, x, a2, b2);
      add(row + 3 * size + i, x, a3, b3);
    }
    finish(a0, b0, r);
    finish(a1, b1, r + 1);
    finish(a2, b2, r + 2);
    finish(a3, b3, r + 3);
  }
  for (; r < rows; ++r) {
    Sum a = hn::Zero(sums), b = a;
    for (Index i = 0; i < size; i += lanes) add(values + r * size + i, hn::LoadU(d, f + i), a, b);
    finish(a, b, r);
  }
#endif
}

}  // namespace
}  // namespace sdm::face::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::face {
namespace {
HWY_EXPORT(fold_pairs);
HWY_EXPORT(narrow);
HWY_EXPORT(multiply_rows);

constexpr Index kCell = image::kBins;

int mirrored_bin(int k) { return (4 - k) & 7; }

}  // namespace

Folding::Folding(const StageRecipe& stage, Index points, const std::vector<int>& mirror)
    : Folding(stage.count(points), stage.cells, part_mirror(stage.points, mirror)) {}

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

// With |f| <= top every sum of `size` products with -127..127 fits in 31 bits.
float step_of(float largest, std::size_t size) {
  const double top = std::min(32767.0, 2147483647.0 / (127.0 * static_cast<double>(size)) - 1);
  return largest > 0 ? static_cast<float>(static_cast<double>(largest) / top) : 1.0F;
}

float to_i16(std::span<const float> f, std::span<std::int16_t> out) {
  return HWY_DYNAMIC_DISPATCH(narrow)(f, out);
}

void multiply_i8(const std::int8_t* values, const float* scale, Index rows, Index size,
                 const std::int16_t* f, float step, float* out) {
  HWY_DYNAMIC_DISPATCH(multiply_rows)(values, scale, rows, size, f, step, out);
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

float to_i16(std::span<const float> f, std::span<std::int16_t> out) {
  float largest = 0;
  for (const float value : f) largest = std::max(largest, std::abs(value));
  const float step = step_of(largest, f.size());
  const float inverse = 1 / step;
  for (std::size_t i = 0; i < f.size(); ++i)
    out[i] = static_cast<std::int16_t>(std::nearbyint(f[i] * inverse));
  return step;
}

void multiply_i8(const std::int8_t* values, const float* scale, Index rows, Index size,
                 const std::int16_t* f, float step, float* out) {
  for (Index r = 0; r < rows; ++r) {
    std::int32_t sum = 0;
    for (Index i = 0; i < size; ++i) sum += values[r * size + i] * f[i];
    out[r] = step * scale[r] * static_cast<float>(sum);
  }
}

}  // namespace scalar
}  // namespace sdm::face
#endif  // HWY_ONCE
