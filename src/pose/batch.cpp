// The descent of pose/state.h and a Gauss-Newton step in single precision, one pose in every lane:
// the loop of descent/solve.h written again, since a lane holds what a state is there.
#include "pose/batch.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/simd.h"
#include "pose/state.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pose/batch.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, always.
#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sdm::pose::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;
using Packed = PackedEstimator;
constexpr Index lanes = HWY_LANES(float);

HWY_INLINE V set(float value) { return hn::Set(Tag(), value); }

struct State {
  V q[4];     // w x y z
  V a, b, s;  // the centre: x/z, y/z, z/depth
};

/// A state as the points want it: the matrix of its rotation and where the centre is.
struct Placed {
  V r[9], x, y, z;

  HWY_INLINE explicit Placed(const State& state) {
    const V w = state.q[0], i = state.q[1], j = state.q[2], k = state.q[3];
    const V i2 = i + i, j2 = j + j, k2 = k + k, one = set(1);
    const V ii = i * i2, jj = j * j2, kk = k * k2, ij = i * j2, ik = i * k2, jk = j * k2;
    const V wi = w * i2, wj = w * j2, wk = w * k2;
    r[0] = one - (jj + kk), r[1] = ij - wk, r[2] = ik + wj;
    r[3] = ij + wk, r[4] = one - (ii + kk), r[5] = jk - wi;
    r[6] = ik - wj, r[7] = jk + wi, r[8] = one - (ii + jj);
    x = state.s * state.a, y = state.s * state.b, z = state.s;
  }
  /// Row `axis` of the rotation times the point, plus `offset`.
  HWY_INLINE V turn(int axis, const float* point, V offset) const {
    const V* row = r + 3 * axis;
    return hn::MulAdd(row[0], set(point[0]),
                      hn::MulAdd(row[1], set(point[1]), hn::MulAdd(row[2], set(point[2]), offset)));
  }
};

/// q <- (1, c/2) q, normalised: the Cayley step of pose/rotation.h.
HWY_INLINE void turn_by(const V* c, State& x) {
  const V half = set(0.5f), i = half * c[0], j = half * c[1], k = half * c[2];
  const V* q = x.q;
  const V w = hn::NegMulAdd(i, q[1], hn::NegMulAdd(j, q[2], hn::NegMulAdd(k, q[3], q[0])));
  const V u = hn::MulAdd(i, q[0], hn::MulAdd(j, q[3], hn::NegMulAdd(k, q[2], q[1])));
  const V v = hn::MulAdd(j, q[0], hn::MulAdd(k, q[1], hn::NegMulAdd(i, q[3], q[2])));
  const V t = hn::MulAdd(k, q[0], hn::MulAdd(i, q[2], hn::NegMulAdd(j, q[1], q[3])));
  const V norm = hn::Sqrt(hn::MulAdd(w, w, hn::MulAdd(u, u, hn::MulAdd(v, v, t * t))));
  const V scale = set(1) / norm;
  x.q[0] = w * scale, x.q[1] = u * scale, x.q[2] = v * scale, x.q[3] = t * scale;
}

/// Applies a delta to a state: the `state_step` of pose/state.h.
HWY_INLINE void move_by(const V* delta, State& x) {
  turn_by(delta, x);
  const V inverse = set(1) / x.s;
  x.a = hn::MulAdd(delta[3], inverse, x.a);
  x.b = hn::MulAdd(delta[4], inverse, x.b);
  x.s = x.s / hn::Min(hn::Max(set(1) - delta[5], set(0.1f)), set(10));
}

/// delta <- delta - R f for the features of one point; r holds its two columns of R.
HWY_INLINE void subtract(const float* r, V fu, V fv, V* delta) {
  for (int k = 0; k < 6; ++k)
    delta[k] = hn::NegMulAdd(set(r[k]), fu, hn::NegMulAdd(set(r[6 + k]), fv, delta[k]));
}

/// One stage of a cascade: `map` as in PackedEstimator::Cell::maps, `image` the normalised points
/// (u and v of every point, a lane a pose).
HWY_INLINE void descend(const Packed& model, const float* map, const float* image, State& x) {
  const Placed at(x);
  const V least = set(static_cast<float>(nearest));
  V delta[6];
  for (int k = 0; k < 6; ++k) delta[k] = set(map[k]);
  const Index n = model.point_count();
  const float* point = model.points.data();
  const float* r = map + 6;
  for (Index i = 0; i < n; ++i, point += 3, r += 12, image += 2 * lanes) {
    const V scale = at.z / hn::Max(at.turn(2, point, at.z), least);
    const V u = hn::Load(Tag(), image), v = hn::Load(Tag(), image + lanes);
    subtract(r, hn::MulSub(at.turn(0, point, at.x), scale, at.z * u),
             hn::MulSub(at.turn(1, point, at.y), scale, at.z * v), delta);
  }
  move_by(delta, x);
}

/// The first stage of a cell. All poses start in one state, whose projection is known beforehand.
HWY_INLINE State first_step(const Packed& model, const Packed::Cell& cell, const float* image) {
  const float* s = cell.start;
  State x = {{set(s[0]), set(s[1]), set(s[2]), set(s[3])}, set(s[4]), set(s[5]), set(s[6])};
  V delta[6];
  const float* r = cell.maps.data() + 6;
  for (int k = 0; k < 6; ++k) delta[k] = set(cell.maps[static_cast<std::size_t>(k)]);
  const float* h = cell.projection.data();
  const Index n = model.point_count();
  for (Index i = 0; i < n; ++i, h += 2, r += 12, image += 2 * lanes) {
    const V u = hn::Load(Tag(), image), v = hn::Load(Tag(), image + lanes);
    subtract(r, x.s * (set(h[0]) - u), x.s * (set(h[1]) - v), delta);
  }
  move_by(delta, x);
  return x;
}

/// Root mean square reprojection error in pixels; infinite with a point behind the camera, NaN with
/// a point that is NaN.
HWY_INLINE V error_of(const Packed& model, const float* image, const State& x) {
  const Placed at(x);
  const V fx = set(static_cast<float>(model.camera.fx)),
          fy = set(static_cast<float>(model.camera.fy));
  V sum = set(0), closest = set(std::numeric_limits<float>::max());
  const Index n = model.point_count();
  const float* point = model.points.data();
  for (Index i = 0; i < n; ++i, point += 3, image += 2 * lanes) {
    const V z = at.turn(2, point, at.z), inverse = set(1) / z;
    const V u = hn::Load(Tag(), image), v = hn::Load(Tag(), image + lanes);
    const V du = fx * hn::MulSub(at.turn(0, point, at.x), inverse, u);
    const V dv = fy * hn::MulSub(at.turn(1, point, at.y), inverse, v);
    sum = hn::MulAdd(du, du, hn::MulAdd(dv, dv, sum));
    closest = hn::Min(closest, z);
  }
  return hn::IfThenElse(hn::Le(closest, set(0)), set(std::numeric_limits<float>::infinity()),
                        hn::Sqrt(sum * set(1 / static_cast<float>(n))));
}

constexpr int lower(int i, int j) { return i * (i + 1) / 2 + j; }

/// Solves H x = g for a positive definite H (lower triangle, row by row) by L D L^T; x is left in
/// g.
HWY_INLINE void solve6(V* h, V* g) {
  V inverse[6];
  for (int j = 0; j < 6; ++j) {
    inverse[j] = set(1) / h[lower(j, j)];
    V column[6];
    for (int i = j + 1; i < 6; ++i) {
      column[i] = h[lower(i, j)];
      const V l = column[i] * inverse[j];
      for (int k = j + 1; k <= i; ++k) h[lower(i, k)] = hn::NegMulAdd(l, column[k], h[lower(i, k)]);
      g[i] = hn::NegMulAdd(l, g[j], g[i]);
      h[lower(i, j)] = l;
    }
  }
  for (int j = 5; j >= 0; --j) {
    g[j] = g[j] * inverse[j];
    for (int i = j + 1; i < 6; ++i) g[j] = hn::NegMulAdd(h[lower(i, j)], g[i], g[j]);
  }
}

/// A row of the Jacobian and its residual into the normal equations; `Zero` is the translation it
/// does not depend on.
template <int Zero>
HWY_INLINE void accumulate(const V* row, V residual, V* h, V* g) {
  for (int i = 0; i < 6; ++i) {
    if (i == Zero) continue;
    for (int j = 0; j <= i; ++j)
      if (j != Zero) h[lower(i, j)] = hn::MulAdd(row[i], row[j], h[lower(i, j)]);
    g[i] = hn::NegMulAdd(row[i], residual, g[i]);
  }
}

/// One Gauss-Newton step on the reprojection error, turning about the object's centre.
HWY_INLINE void polish(const Packed& model, const float* image, State& x) {
  const Placed at(x);
  const V zero = set(0), least = set(static_cast<float>(nearest));
  V h[21], g[6];
  for (V& value : h) value = zero;
  for (V& value : g) value = zero;
  const Index n = model.point_count();
  const float* point = model.points.data();
  for (Index i = 0; i < n; ++i, point += 3, image += 2 * lanes) {
    const V wx = at.turn(0, point, zero), wy = at.turn(1, point, zero),
            wz = at.turn(2, point, zero);
    const V inverse = set(1) / hn::Max(wz + at.z, least);
    const V u = (wx + at.x) * inverse, v = (wy + at.y) * inverse;
    const V row_u[6] = {hn::Neg(u * wy) * inverse,
                        hn::MulAdd(u, wx, wz) * inverse,
                        hn::Neg(wy) * inverse,
                        inverse,
                        zero,
                        hn::Neg(u) * inverse};
    const V row_v[6] = {hn::Neg(hn::MulAdd(v, wy, wz)) * inverse,
                        v * wx * inverse,
                        wx * inverse,
                        zero,
                        inverse,
                        hn::Neg(v) * inverse};
    accumulate<4>(row_u, u - hn::Load(Tag(), image), h, g);
    accumulate<3>(row_v, v - hn::Load(Tag(), image + lanes), h, g);
  }
  // A damping at the level of rounding: a pose that the points leave open stays finite.
  for (int k = 0; k < 6; ++k) {
    V& diagonal = h[lower(k, k)];
    diagonal = hn::MulAdd(diagonal, set(1e-6f), diagonal + set(1e-20f));
  }
  solve6(h, g);
  turn_by(g, x);
  const V z = hn::Max(at.z + g[5], least), inverse = set(1) / z;
  x.a = (at.x + g[3]) * inverse;
  x.b = (at.y + g[4]) * inverse;
  x.s = z;
}

/// The poses `index[0 .. lanes)` as normalised points: u and v of every point, a lane a pose.
void load_block(const Packed& model, const BatchSpan& span, const std::int32_t* index,
                float* image) {
  const Index n = model.point_count();
  for (Index lane = 0; lane < lanes; ++lane) {
    const float* column = span.pixels + index[lane] * span.pixel_stride;
    for (Index j = 0; j < 2 * n; ++j) image[j * lanes + lane] = column[j];
  }
  const Camera& camera = model.camera;
  const V cx = set(static_cast<float>(camera.cx)), cy = set(static_cast<float>(camera.cy));
  const V fx = set(static_cast<float>(1 / camera.fx)), fy = set(static_cast<float>(1 / camera.fy));
  for (Index i = 0; i < n; ++i, image += 2 * lanes) {
    hn::Store((hn::Load(Tag(), image) - cx) * fx, Tag(), image);
    hn::Store((hn::Load(Tag(), image + lanes) - cy) * fy, Tag(), image + lanes);
  }
}

/// For every pose, the cell whose first step explains the image best.
void choose_cells(const Packed& model, const BatchSpan& span, const std::int32_t* index,
                  float* image, std::int32_t* choice) {
  HWY_ALIGN float chosen[lanes];
  for (Index first = 0; first < span.count; first += lanes) {
    load_block(model, span, index + first, image);
    V best = set(std::numeric_limits<float>::max()), best_cell = set(0);
    for (std::size_t c = 0; c < model.cells.size(); ++c) {
      const V error = error_of(model, image, first_step(model, model.cells[c], image));
      const auto better = hn::Lt(error, best);
      best = hn::IfThenElse(better, error, best);
      best_cell = hn::IfThenElse(better, set(static_cast<float>(c)), best_cell);
    }
    hn::Store(best_cell, Tag(), chosen);
    for (Index lane = 0; lane < lanes && first + lane < span.count; ++lane)
      choice[first + lane] = static_cast<std::int32_t>(chosen[lane]);
  }
}

/// Runs the poses `index[0 .. count)` through one cell; index is padded to whole blocks.
void run_cell(const Packed& model, const Packed::Cell& cell, const Estimator::BatchOptions& options,
              const BatchSpan& span, const std::int32_t* index, Index count, float* image) {
  HWY_ALIGN float out[8 * lanes];
  const int stages = options.stages > 0 ? std::min(options.stages, model.stages) : model.stages;
  const V depth = set(model.depth);
  for (Index first = 0; first < count; first += lanes) {
    load_block(model, span, index + first, image);
    State x = first_step(model, cell, image);
    for (int stage = 1; stage < stages; ++stage)
      descend(model, cell.maps.data() + stage * model.stage_size(), image, x);
    V error = error_of(model, image, x);
    if (options.refine_steps > 0) {
      State refined = x;
      for (int s = 0; s < options.refine_steps; ++s) polish(model, image, refined);
      const V refined_error = error_of(model, image, refined);
      const auto better = hn::Lt(refined_error, error);
      error = hn::IfThenElse(better, refined_error, error);
      for (int k = 0; k < 4; ++k) x.q[k] = hn::IfThenElse(better, refined.q[k], x.q[k]);
      x.a = hn::IfThenElse(better, refined.a, x.a);
      x.b = hn::IfThenElse(better, refined.b, x.b);
      x.s = hn::IfThenElse(better, refined.s, x.s);
    }
    const Placed at(x);
    for (int k = 0; k < 4; ++k) hn::Store(x.q[k], Tag(), out + k * lanes);
    const V centre[3] = {at.x, at.y, at.z};
    for (int k = 0; k < 3; ++k)
      hn::Store(hn::MulSub(centre[k], depth, at.turn(k, model.mean, set(0))), Tag(),
                out + (4 + k) * lanes);
    hn::Store(error, Tag(), out + 7 * lanes);
    for (Index lane = 0; lane < lanes && first + lane < count; ++lane) {
      const Index column = index[first + lane];
      for (Index k = 0; k < 7; ++k)
        span.poses[column * span.pose_stride + k] = out[k * lanes + lane];
      span.errors[column] = out[7 * lanes + lane];
    }
  }
}

void run(const Packed& model, const Estimator::BatchOptions& options, const BatchSpan& span) {
  const auto image =
      hwy::AllocateAligned<float>(static_cast<std::size_t>(2 * model.point_count() * lanes));
  const auto count = static_cast<std::size_t>(span.count);
  // Padding lanes repeat the last pose of their block.
  std::vector<std::int32_t> index(count + static_cast<std::size_t>(lanes), span.count - 1);
  std::iota(index.begin(), index.begin() + span.count, 0);
  if (model.cells.size() == 1)
    return run_cell(model, model.cells.front(), options, span, index.data(), span.count,
                    image.get());

  std::vector<std::int32_t> choice(count);
  choose_cells(model, span, index.data(), image.get(), choice.data());
  std::vector<std::vector<std::int32_t>> members(model.cells.size());
  for (std::size_t i = 0; i < count; ++i)
    members[static_cast<std::size_t>(choice[i])].push_back(static_cast<std::int32_t>(i));
  for (std::size_t c = 0; c < members.size(); ++c) {
    if (members[c].empty()) continue;
    const auto size = static_cast<Index>(members[c].size());
    members[c].resize(members[c].size() + static_cast<std::size_t>(lanes), members[c].back());
    run_cell(model, model.cells[c], options, span, members[c].data(), size, image.get());
  }
}

}  // namespace
}  // namespace sdm::pose::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdm::pose {
HWY_EXPORT(run);

void run_batch(const PackedEstimator& model, const Estimator::BatchOptions& options,
               const BatchSpan& span) {
  if (span.count > 0) HWY_DYNAMIC_DISPATCH(run)(model, options, span);
}

}  // namespace sdm::pose
#endif
