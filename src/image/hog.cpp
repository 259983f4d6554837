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

// Edges of the cells along one axis, in columns (or rows) of the integral image.
struct Edges {
  int at[kMaxCells + 1];
  float part[kMaxCells + 1];
};

template <bool kSubpixel>
Edges edges(float centre, int cells, float cell, int size) {
  Edges e;
  for (int i = 0; i <= cells; ++i) {
    const float p = centre + (0.5f + (float(i) - 0.5f * float(cells)) * cell);
    const float inside = p > 0 ? std::min(p, float(size)) : 0.f;  // NaN becomes 0
    e.at[i] = kSubpixel ? std::min(int(inside), size - 1) : int(inside + 0.5f);
    e.part[i] = inside - float(e.at[i]);
  }
  return e;
}

VI load(const Votes* row, int x, int first) { return hn::Load(I8(), row[x].bin + first); }
VF lerp(VF a, VF b, VF t) { return hn::MulAdd(t, hn::Sub(b, a), a); }

void whole_cells(const GradientChannels& channels, const Edges& xs, const Edges& ys, int n,
                 int first, VF scale, float* out) {
  for (int r = 0; r < n; ++r) {
    const Votes *top = channels.row(ys.at[r]), *bottom = channels.row(ys.at[r + 1]);
    VI left = hn::Sub(load(bottom, xs.at[0], first), load(top, xs.at[0], first));
    for (int c = 0; c < n; ++c, out += kBins) {
      const VI right = hn::Sub(load(bottom, xs.at[c + 1], first), load(top, xs.at[c + 1], first));
      hn::StoreU(hn::Mul(hn::ConvertTo(F8(), hn::Sub(right, left)), scale), F8(), out);
      left = right;
    }
  }
}

// Sums from the patch's own corner are far smaller than the wrapped sums of the integral image, so
// it is they that are turned into floats and interpolated at the edges.
void weighted_cells(const GradientChannels& channels, const Edges& xs, const Edges& ys, int n,
                    int first, VF scale, float* out) {
  const int x0 = xs.at[0];
  const Votes* origin = channels.row(ys.at[0]);
  VI top[kMaxCells + 1][2];
  VF above[kMaxCells + 1];
  for (int c = 0; c <= n; ++c) {
    for (int i = 0; i < 2; ++i) {
      top[c][i] = hn::Sub(load(origin, xs.at[c] + i, first), load(origin, x0, first));
    }
  }
  for (int r = 0; r <= n; ++r) {
    const Votes *upper = channels.row(ys.at[r]), *lower = upper + channels.stride();
    const VI upper_start = load(upper, x0, first), lower_start = load(lower, x0, first);
    const VF fy = hn::Set(F8(), ys.part[r]);
    VF left = hn::Zero(F8());
    for (int c = 0; c <= n; ++c) {
      const VF fx = hn::Set(F8(), xs.part[c]);
      VF column[2];
      for (int i = 0; i < 2; ++i) {
        const int x = xs.at[c] + i;
        const VI a = hn::Sub(hn::Sub(load(upper, x, first), upper_start), top[c][i]);
        const VI b = hn::Sub(hn::Sub(load(lower, x, first), lower_start), top[c][i]);
        column[i] = lerp(hn::ConvertTo(F8(), a), hn::ConvertTo(F8(), b), fy);
      }
      const VF here = lerp(column[0], column[1], fx);
      if (r > 0 && c > 0) {
        // Rounding may leave an empty cell a little under zero.
        const VF cell = hn::Sub(hn::Sub(here, left), hn::Sub(above[c], above[c - 1]));
        hn::StoreU(hn::Max(hn::Mul(cell, scale), hn::Zero(F8())), F8(),
                   out + ((r - 1) * n + c - 1) * kBins);
      }
      if (c > 0) above[c - 1] = left;
      left = here;
    }
    above[n] = left;
  }
}

void scale_by(float* values, int size, float factor, float limit) {
  const int lanes = int(hn::Lanes(F8()));
  for (int i = 0; i < size; i += lanes) {
    const VF v = hn::Mul(hn::LoadU(F8(), values + i), hn::Set(F8(), factor));
    hn::StoreU(hn::Min(v, hn::Set(F8(), limit)), F8(), values + i);
  }
}

float sum_of_squares(const float* values, int size) {
  const int lanes = int(hn::Lanes(F8()));
  VF sum = hn::Zero(F8());
  for (int i = 0; i < size; i += lanes) {
    const VF v = hn::LoadU(F8(), values + i);
    sum = hn::MulAdd(v, v, sum);
  }
  return hn::GetLane(hn::SumOfLanes(F8(), sum));
}

void normalise(float* values, int size, Normalisation how, float epsilon) {
  const int lanes = int(hn::Lanes(F8()));
  constexpr float kNoLimit = 3e38f;
  if (how == Normalisation::sqrt_l1) {
    VF sum = hn::Zero(F8());
    for (int i = 0; i < size; i += lanes) sum = hn::Add(sum, hn::LoadU(F8(), values + i));
    const VF scale = hn::Set(F8(), 1 / (hn::GetLane(hn::SumOfLanes(F8(), sum)) + epsilon));
    for (int i = 0; i < size; i += lanes) {
      hn::StoreU(hn::Sqrt(hn::Mul(hn::LoadU(F8(), values + i), scale)), F8(), values + i);
    }
  } else if (how != Normalisation::none) {
    const bool clip = how == Normalisation::l2_hys;
    const float e2 = epsilon * epsilon;
    scale_by(values, size, 1 / std::sqrt(sum_of_squares(values, size) + e2),
             clip ? 0.2f : kNoLimit);
    if (clip) {
      scale_by(values, size, 1 / std::sqrt(sum_of_squares(values, size) + e2), kNoLimit);
    }
  }
}

template <bool kSubpixel>
void describe(const GradientChannels& channels, const Eigen::Ref<const Eigen::Matrix2Xf>& points,
              const HogOptions& o, float* out) {
  const VF scale = hn::Set(F8(), 1 / (256 * o.cell * o.cell));
  for (Eigen::Index p = 0; p < points.cols(); ++p, out += o.size()) {
    const Edges x = edges<kSubpixel>(points(0, p), o.cells, o.cell, channels.width());
    const Edges y = edges<kSubpixel>(points(1, p), o.cells, o.cell, channels.height());
    for (int first = 0; first < kBins; first += int(hn::Lanes(F8()))) {
      if constexpr (kSubpixel) {
        weighted_cells(channels, x, y, o.cells, first, scale, out + first);
      } else {
        whole_cells(channels, x, y, o.cells, first, scale, out + first);
      }
    }
    normalise(out, o.size(), o.normalisation, o.epsilon);
  }
}

void describe_points(const GradientChannels& channels,
                     const Eigen::Ref<const Eigen::Matrix2Xf>& points, const HogOptions& options,
                     float* out) {
  options.subpixel ? describe<true>(channels, points, options, out)
                   : describe<false>(channels, points, options, out);
}

}  // namespace
}  // namespace sdm::image::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::image {
namespace {
HWY_EXPORT(describe_points);
}  // namespace

void hog(const GradientChannels& channels, const Eigen::Ref<const Eigen::Matrix2Xf>& points,
         const HogOptions& options, std::span<float> out) {
  checks::hog(channels, points.cols(), options, out.size());
  HWY_DYNAMIC_DISPATCH(describe_points)(channels, points, options, out.data());
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
