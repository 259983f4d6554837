#include "sdm/image/hog.h"

#include <algorithm>
#include <cmath>

#include "base/simd.h"
#include "image/checks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/hog.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sdm::image::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using F8 = hn::CappedTag<float, kBins>;
using I8 = hn::RebindToSigned<F8>;
using VF = hn::Vec<F8>;
using VI = hn::Vec<I8>;
constexpr int kMaxCells = HogOptions::kMaxCells;

// Places of the cells' edges along one axis, a vector may touch more: from the centre of the patch,
// and in columns (or rows) of the integral image.
constexpr int kMaxEdges = (kMaxCells / kBins + 1) * kBins;
struct Offsets {
  float at[kMaxEdges];

  Offsets(int cells, float cell) {
    for (int i = 0; i < kMaxEdges; ++i) at[i] = 0.5f + (float(i) - 0.5f * float(cells)) * cell;
  }
};
struct Edges {
  int at[kMaxEdges];
  float part[kMaxEdges];
};

template <bool kSubpixel>
void find_edges(float centre, const Offsets& offsets, int cells, int size, Edges& e) {
  const VF zero = hn::Zero(F8());
  for (int i = 0; i <= cells; i += int(hn::Lanes(F8()))) {
    const VF p = hn::Add(hn::Set(F8(), centre), hn::LoadU(F8(), offsets.at + i));
    const VF end = hn::Set(F8(), float(size));
    const VF inside = hn::IfThenElse(hn::Gt(p, zero), hn::Min(p, end), zero);  // NaN becomes 0
    const VI at = kSubpixel ? hn::Min(hn::ConvertTo(I8(), inside), hn::Set(I8(), size - 1))
                            : hn::ConvertTo(I8(), hn::Add(inside, hn::Set(F8(), 0.5f)));
    hn::StoreU(at, I8(), e.at + i);
    hn::StoreU(hn::Sub(inside, hn::ConvertTo(F8(), at)), F8(), e.part + i);
  }
}

VI load(const Votes* row, int x, int first) { return hn::Load(I8(), row[x].bin + first); }
VF lerp(VF a, VF b, VF t) { return hn::MulAdd(t, hn::Sub(b, a), a); }

// Votes of the cells, from `first` bin on.
void whole_cells(const GradientChannels& channels, const Edges& xs, const Edges& ys, int n,
                 int first, float* out) {
  for (int r = 0; r < n; ++r) {
    const Votes *top = channels.row(ys.at[r]), *bottom = channels.row(ys.at[r + 1]);
    VI left = hn::Sub(load(bottom, xs.at[0], first), load(top, xs.at[0], first));
    for (int c = 0; c < n; ++c, out += kBins) {
      const VI right = hn::Sub(load(bottom, xs.at[c + 1], first), load(top, xs.at[c + 1], first));
      hn::StoreU(hn::ConvertTo(F8(), hn::Sub(right, left)), F8(), out);
      left = right;
    }
  }
}

// Sums from the patch's own corner are far smaller than the wrapped sums of the integral image, so
// it is they that are turned into floats and interpolated at the edges. kCells: a number of cells
// known beforehand, or 0.
template <int kCells>
void weighted_cells(const GradientChannels& channels, const Edges& xs, const Edges& ys, int cells,
                    int first, float* out) {
  const int n = kCells > 0 ? kCells : cells, x0 = xs.at[0];
  constexpr int kRoom = (kCells > 0 ? kCells : kMaxCells) + 1;
  const Votes* origin = channels.row(ys.at[0]);
  VI top[kRoom][2];
  VF above[kRoom];
  for (int c = 0; c <= n; ++c) {
    for (int i = 0; i < 2; ++i) {
      top[c][i] = hn::Sub(load(origin, xs.at[c] + i, first), load(origin, x0, first));
    }
  }
  for (int r = 0; r <= n; ++r) {
    const Votes *upper = channels.row(ys.at[r]), *lower = upper + channels.stride();
    const VI upper_start = load(upper, x0, first), lower_start = load(lower, x0, first);
    const VF fy = hn::Set(F8(), ys.part[r]);
    const auto column = [&](int x, VI from) HWY_ATTR {
      const VI a = hn::Sub(hn::Sub(load(upper, x, first), upper_start), from);
      const VI b = hn::Sub(hn::Sub(load(lower, x, first), lower_start), from);
      return lerp(hn::ConvertTo(F8(), a), hn::ConvertTo(F8(), b), fy);
    };
    // Nothing lies before the first column.
    VF left = hn::Mul(hn::Set(F8(), xs.part[0]), column(x0 + 1, top[0][1]));
    for (int c = 1; c <= n; ++c) {
      const VF fx = hn::Set(F8(), xs.part[c]);
      const int x = xs.at[c];
      const VF here = lerp(column(x, top[c][0]), column(x + 1, top[c][1]), fx);
      if (r > 0) {
        // Rounding may leave an empty cell a little under zero.
        const VF cell = hn::Sub(hn::Sub(here, left), hn::Sub(above[c], above[c - 1]));
        hn::StoreU(hn::Max(cell, hn::Zero(F8())), F8(), out + ((r - 1) * n + c - 1) * kBins);
      }
      above[c - 1] = left;
      left = here;
    }
    above[n] = left;
  }
}

// At 1.5 x 2^23 a float has no room for a fraction: adding it rounds, and leaves the whole number
// in the low bits, where a conversion takes several instructions.
constexpr float kRounder = 12582912;

// Where a patch's values go, times `factor`: as they are, or in whole steps.
struct Floats {
  static constexpr float factor = 1;
  float* at;

  template <class D>
  void put(D tag, hn::Vec<D> v, int i) const {
    hn::StoreU(v, tag, at + i);
  }
};
struct Steps {
  float factor;  // steps of 1
  std::int16_t* at;

  template <class D>
  void put(D tag, hn::Vec<D> v, int i) const {
    const hn::Rebind<std::int16_t, D> narrow;
    const hn::RebindToSigned<D> wide;
    const auto rounder = hn::Set(tag, kRounder);
    const auto bounded = hn::Min(v, hn::Set(tag, 32767.f));
    const auto whole = hn::BitCast(wide, hn::Add(bounded, rounder));
    hn::StoreU(hn::DemoteTo(narrow, hn::Sub(whole, hn::BitCast(wide, rounder))), narrow, at + i);
  }
};

float sum_of_squares(const float* values, int size) {
  VF sum = hn::Zero(F8());
  for (int i = 0; i < size; i += int(hn::Lanes(F8()))) {
    const VF v = hn::LoadU(F8(), values + i);
    sum = hn::MulAdd(v, v, sum);
  }
  return hn::GetLane(hn::SumOfLanes(F8(), sum));
}

// Four sums at once: each addition waits for the one before.
VF sum_of(const float* values, int size) {
  constexpr int kLanes = int(hn::MaxLanes(F8()));
  VF sums[4] = {hn::Zero(F8()), hn::Zero(F8()), hn::Zero(F8()), hn::Zero(F8())};
  int i = 0;
  for (; i + 4 * kLanes <= size; i += 4 * kLanes)
    for (int k = 0; k < 4; ++k)
      sums[k] = hn::Add(sums[k], hn::LoadU(F8(), values + i + k * kLanes));
  for (; i < size; i += kLanes) sums[0] = hn::Add(sums[0], hn::LoadU(F8(), values + i));
  return hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
}

template <class D, class Out>
HWY_INLINE int put_roots_of(D tag, const float* votes, int first, int size, float scale,
                            const Out& out) {
  const int lanes = int(hn::Lanes(tag));
  const auto factor = hn::Set(tag, scale);
  int i = first;
  for (; i + lanes <= size; i += lanes)
    out.put(tag, hn::Sqrt(hn::Mul(hn::LoadU(tag, votes + i), factor)), i);
  return i;
}

template <class Out>
void put_roots(const float* votes, int size, float scale, Out out) {
  const int i = put_roots_of(hn::CappedTag<float, 16>(), votes, 0, size, scale, out);
  put_roots_of(F8(), votes, i, size, scale, out);
}

// `one`: the votes that are a mean of one grey level. Changes the votes.
template <class Out>
void normalise(float* votes, const HogOptions& o, float one, const Out& out) {
  const int lanes = int(hn::Lanes(F8())), size = o.size();
  const float epsilon = o.epsilon * one;
  VF scale = hn::Set(F8(), out.factor / one);
  if (o.normalisation == Normalisation::sqrt_l1) {
    const float total = hn::GetLane(hn::SumOfLanes(F8(), sum_of(votes, size)));
    return put_roots(votes, size, out.factor * out.factor / (total + epsilon), out);
  }
  if (o.normalisation != Normalisation::none)
    scale = hn::Set(F8(), out.factor / std::sqrt(sum_of_squares(votes, size) + epsilon * epsilon));
  if (o.normalisation == Normalisation::l2_hys) {
    for (int i = 0; i < size; i += lanes) {
      const VF v = hn::Mul(hn::LoadU(F8(), votes + i), scale);
      hn::StoreU(hn::Min(v, hn::Set(F8(), 0.2f * out.factor)), F8(), votes + i);
    }
    const float limit = o.epsilon * out.factor;
    scale = hn::Set(F8(), out.factor / std::sqrt(sum_of_squares(votes, size) + limit * limit));
  }
  for (int i = 0; i < size; i += lanes)
    out.put(F8(), hn::Mul(hn::LoadU(F8(), votes + i), scale), i);
}

template <bool kSubpixel, int kCells, class Out>
void describe(const GradientChannels& channels, const Eigen::Ref<const Eigen::Matrix2Xf>& points,
              const HogOptions& o, Out out) {
  const Offsets offsets(o.cells, o.cell);
  const float one = 256 * o.cell * o.cell;
  Edges x, y;
  HWY_ALIGN float votes[kMaxCells * kMaxCells * kBins];
  for (Eigen::Index p = 0; p < points.cols(); ++p, out.at += o.size()) {
    find_edges<kSubpixel>(points(0, p), offsets, o.cells, channels.width(), x);
    find_edges<kSubpixel>(points(1, p), offsets, o.cells, channels.height(), y);
    for (int first = 0; first < kBins; first += int(hn::Lanes(F8()))) {
      if constexpr (kSubpixel) {
        weighted_cells<kCells>(channels, x, y, o.cells, first, votes + first);
      } else {
        whole_cells(channels, x, y, o.cells, first, votes + first);
      }
    }
    normalise(votes, o, one, out);
  }
}

template <class Out>
void describe(const GradientChannels& channels, const Eigen::Ref<const Eigen::Matrix2Xf>& points,
              const HogOptions& options, const Out& out) {
  if (!options.subpixel) return describe<false, 0>(channels, points, options, out);
  if (options.cells == 3) return describe<true, 3>(channels, points, options, out);
  if (options.cells == 4) return describe<true, 4>(channels, points, options, out);
  describe<true, 0>(channels, points, options, out);
}

void describe_floats(const GradientChannels& channels,
                     const Eigen::Ref<const Eigen::Matrix2Xf>& points, const HogOptions& options,
                     float* out) {
  describe(channels, points, options, Floats{out});
}
void describe_steps(const GradientChannels& channels,
                    const Eigen::Ref<const Eigen::Matrix2Xf>& points, const HogOptions& options,
                    float step, std::int16_t* out) {
  describe(channels, points, options, Steps{1 / step, out});
}

}  // namespace
}  // namespace sdm::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::image {
namespace {
HWY_EXPORT(describe_floats);
HWY_EXPORT(describe_steps);
}  // namespace

void hog(const GradientChannels& channels, const Eigen::Ref<const Eigen::Matrix2Xf>& points,
         const HogOptions& options, std::span<float> out) {
  checks::hog(channels, points.cols(), options, out.size());
  HWY_DYNAMIC_DISPATCH(describe_floats)(channels, points, options, out.data());
}

void hog(const GradientChannels& channels, const Eigen::Ref<const Eigen::Matrix2Xf>& points,
         const HogOptions& options, float step, std::span<std::int16_t> out) {
  checks::hog(channels, points.cols(), options, out.size());
  HWY_DYNAMIC_DISPATCH(describe_steps)(channels, points, options, step, out.data());
}

std::vector<int> mirror_permutation(int columns, int rows) {
  std::vector<int> permutation;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      for (int k = 0; k < kBins; ++k) {
        permutation.push_back((r * columns + columns - 1 - c) * kBins + ((4 - k) & 7));
      }
    }
  }
  return permutation;
}

}  // namespace sdm::image
#endif  // HWY_ONCE
