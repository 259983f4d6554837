#include "face/folding.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/simd.h"
#include "face/mirror.h"
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

void fold_floats(const Folding& folding, std::span<const float> features, std::span<float> all_sums,
                 std::span<float> all_differences) {
#if HWY_TARGET == HWY_SCALAR
  scalar::fold(folding, features, all_sums, all_differences);
#else
  const float* f = features.data();
  float *sums = all_sums.data(), *differences = all_differences.data();
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
#endif
}

void fold_steps(const Folding& folding, std::span<const std::int16_t> features,
                std::span<std::int16_t> all_sums, std::span<std::int16_t> all_differences) {
#if HWY_TARGET == HWY_SCALAR
  scalar::fold(folding, features, all_sums, all_differences);
#else
  const std::int16_t* f = features.data();
  std::int16_t *sums = all_sums.data(), *differences = all_differences.data();
  const hn::FixedTag<std::int16_t, 8> d;
  using V = hn::Vec<decltype(d)>;
#if HWY_TARGET == HWY_WASM
  // Highway 1.0 looks bytes up one by one here.
  const auto mirrored = [](V b) {
    return V{wasm_i16x8_shuffle(b.raw, b.raw, 4, 3, 2, 1, 0, 7, 6, 5)};
  };
#else
  const hn::Repartition<std::uint8_t, decltype(d)> bytes;
  HWY_ALIGN constexpr std::uint8_t kMirrored[16] = {8, 9, 6,  7,  4,  5,  2,  3,
                                                    0, 1, 14, 15, 12, 13, 10, 11};
  const auto table = hn::Load(bytes, kMirrored);
  const auto mirrored = [&](V b) HWY_ATTR {
    return hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(bytes, b), table));
  };
#endif
  for (const Folding::Pair& pair : folding.pairs()) {
    const V a = hn::LoadU(d, f + pair.first), partner = mirrored(hn::LoadU(d, f + pair.second));
    hn::StoreU(hn::Add(a, partner), d, sums);
    hn::StoreU(hn::Sub(a, partner), d, differences);
    sums += 8;
    differences += 8;
  }
#endif
}

void multiply_rows(const std::int8_t* values, const float* scale, Index rows, Index size,
                   const std::int16_t* f, float step, float* out) {
#if HWY_TARGET == HWY_SCALAR
  scalar::multiply_i8(values, scale, rows, size, f, step, out);
#else
  const hn::CappedTag<std::int16_t, 32> d;
  const hn::RepartitionToWide<decltype(d)> sums;
  [[maybe_unused]] const hn::Rebind<std::int8_t, decltype(d)> bytes;
  constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(d));
  // Vectors of a row at once: they lie at constant distances, which addresses have room for.
  constexpr Index kAtOnce = kLanes > 16 ? 1 : 4;
  static_assert(kFoldedLanes % (kAtOnce * kLanes) == 0);
  using Sum = hn::Vec<decltype(sums)>;
  const auto finish = [&](Sum a, Sum b, Index r) HWY_ATTR {
    const std::int32_t sum = hn::GetLane(hn::SumOfLanes(sums, hn::Add(a, b)));
    out[r] = step * scale[r] * static_cast<float>(sum);
  };
  const auto add = [&](const std::int8_t* at, hn::Vec<decltype(d)> x, Sum& a, Sum& b) HWY_ATTR {
#if HWY_TARGET == HWY_WASM
    const hn::Vec<decltype(d)> w{wasm_i16x8_load8x8(at)};  // clang 14 makes two of it
#else
    const auto w = hn::PromoteTo(d, hn::LoadU(bytes, at));
#endif
    a = hn::ReorderWidenMulAccumulate(sums, w, x, a, b);
  };
  Index r = 0;
  // Four rows at once share the loads of f.
  for (; r + 4 <= rows; r += 4) {
    const std::int8_t* row = values + r * size;
    Sum a0 = hn::Zero(sums), b0 = a0, a1 = a0, b1 = a0, a2 = a0, b2 = a0, a3 = a0, b3 = a0;
    for (Index i = 0; i < size; i += kAtOnce * kLanes) {
      const std::int8_t *w0 = row + i, *w1 = w0 + size, *w2 = w1 + size, *w3 = w2 + size;
      const std::int16_t* from = f + i;
      for (Index at = 0; at < kAtOnce * kLanes; at += kLanes) {
        const auto x = hn::LoadU(d, from + at);
        add(w0 + at, x, a0, b0);
        add(w1 + at, x, a1, b1);
        add(w2 + at, x, a2, b2);
        add(w3 + at, x, a3, b3);
      }
    }
    finish(a0, b0, r);
    finish(a1, b1, r + 1);
    finish(a2, b2, r + 2);
    finish(a3, b3, r + 3);
  }
  for (; r < rows; ++r) {
    Sum a = hn::Zero(sums), b = a;
    for (Index i = 0; i < size; i += kLanes) add(values + r * size + i, hn::LoadU(d, f + i), a, b);
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
HWY_EXPORT(fold_floats);
HWY_EXPORT(fold_steps);
HWY_EXPORT(multiply_rows);

constexpr Index kCell = image::kBins;

int mirrored_bin(int k) { return (4 - k) & 7; }

// With zeros, to whole vectors.
template <class T>
void fill_up(const Folding& folding, std::span<T> sums, std::span<T> differences) {
  const auto used = folding.pairs().size() * kCell;
  for (const std::span<T> all : {sums, differences})
    std::fill(all.begin() + static_cast<Index>(used), all.end(), T{0});
}

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
  HWY_DYNAMIC_DISPATCH(fold_floats)(folding, features, sums, differences);
  fill_up(folding, sums, differences);
}

void fold(const Folding& folding, std::span<const std::int16_t> features,
          std::span<std::int16_t> sums, std::span<std::int16_t> differences) {
  if (!folding.mirrored()) return scalar::fold(folding, features, sums, differences);
  HWY_DYNAMIC_DISPATCH(fold_steps)(folding, features, sums, differences);
  fill_up(folding, sums, differences);
}

float narrow_step(const image::HogOptions& patch, Index patches) {
  // Without a norm a value is at most the gradient of black beside white along both axes. A norm
  // leaves squares that add up to at most 1.
  const bool normed = patch.normalisation != image::Normalisation::none;
  const double size = patch.size(), largest = normed ? 1 : 256 / std::numbers::sqrt2;
  const double total = static_cast<double>(patches) * (normed ? std::sqrt(size) : largest * size);
  // A cell that is its own partner counts twice. A half: of each number, for rounding.
  const double of_sums = 127 * 2 * total / (2147483647.0 - 127 * 0.5 * size * double(patches));
  return static_cast<float>(1.0001 * std::max(2 * largest / 32767, of_sums));
}

void multiply_i8(const std::int8_t* values, const float* scale, Index rows, Index size,
                 const std::int16_t* f, float step, float* out) {
  HWY_DYNAMIC_DISPATCH(multiply_rows)(values, scale, rows, size, f, step, out);
}

namespace scalar {

namespace {
template <class T>
void fold_as(const Folding& folding, std::span<const T> features, std::span<T> sums,
             std::span<T> differences) {
  std::fill(sums.begin(), sums.end(), T{0});
  if (!folding.mirrored()) {
    std::copy(features.begin(), features.end(), sums.begin());
    return;
  }
  std::fill(differences.begin(), differences.end(), T{0});
  std::size_t at = 0;
  for (const Folding::Pair& pair : folding.pairs())
    for (int k = 0; k < kCell; ++k, ++at) {
      const T a = features[static_cast<std::size_t>(pair.first + k)];
      const T b = features[static_cast<std::size_t>(pair.second + mirrored_bin(k))];
      sums[at] = static_cast<T>(a + b);
      differences[at] = static_cast<T>(a - b);
    }
}
}  // namespace

void fold(const Folding& folding, std::span<const float> features, std::span<float> sums,
          std::span<float> differences) {
  fold_as(folding, features, sums, differences);
}

void fold(const Folding& folding, std::span<const std::int16_t> features,
          std::span<std::int16_t> sums, std::span<std::int16_t> differences) {
  fold_as(folding, features, sums, differences);
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
