#pragma once

#include <concepts>
#include <string>
#include <utility>

#include "sdm/base/error.h"
#include "sdm/base/types.h"

namespace sdm {

/// What a user writes: a family of nonlinear least-squares problems `min |h(x) - y|^2`, one per
/// training sample.
///
/// `features(sample, stage, x, out)` fills `out` with
///   - `h(x) - y` where the template y is known (`template_known()` is true): the same y for every
///     sample (section "Relaxed SDM") or one for each (section "Generalized SDM");
///   - `h(x)` where y is unknown (section "Unknown y*"); the maps then carry a bias.
/// Training calls it from several threads at once, so it must not change shared state.
///
/// Optional members, found by name:
///   - `delta_size()`, `difference(x, target, out)`, `step(x, delta, out)`: how states move when
///     they are not plain vectors (a rotation, a warp). `step(x, difference(x, t)) == t`, and `out`
///     of `step` may be `x` itself.
///   - `group(sample)`: samples of one group (all starts of one photo) share a fold. Groups are
///     numbered from 0.
///   - `weight(sample)`: how much the sample counts, 1 unless told.
///   - `error(sample, delta)`: the size of a delta in the user's own unit; its norm unless told.
///   - `symmetry(stage)`: a mirror symmetry of features and deltas (linear/symmetry.h).
///   - `learned(stage, map)`: told of every map when it is there, also one of a checkpoint, by
///     the thread that called `train`: to measure it on samples that training does not see.
template <class P>
concept Problem = requires(const P& p, Index sample, int stage,
                           const Eigen::Ref<const Vector<typename P::Scalar>>& x,
                           VectorRef<typename P::Scalar> out) {
  requires std::floating_point<typename P::Scalar>;
  { p.samples() } -> std::convertible_to<Index>;
  { p.state_size() } -> std::convertible_to<Index>;
  { p.feature_size(stage) } -> std::convertible_to<Index>;
  { p.template_known() } -> std::convertible_to<bool>;
  p.features(sample, stage, x, out);
};

/// A problem given by one function `h(x, out)` of plain vectors and its templates. Covers the
/// paper's three cases: one column of templates is a fixed y, one column a sample is a known y that
/// differs, no column at all is an unknown y.
template <class Scalar_, class H>
class FunctionProblem {
 public:
  using Scalar = Scalar_;

  FunctionProblem(H h, Index state_size, Index feature_size, Index samples,
                  Matrix<Scalar> templates)
      : h_(std::move(h)),
        state_size_(state_size),
        feature_size_(feature_size),
        samples_(samples),
        templates_(std::move(templates)) {
    if (template_known() && templates_.rows() != feature_size_)
      throw Error("the templates have " + std::to_string(templates_.rows()) +
                  " rows, expected one for each of " + std::to_string(feature_size_) + " features");
    if (templates_.cols() > 1 && templates_.cols() != samples_)
      throw Error(std::to_string(templates_.cols()) + " templates for " + std::to_string(samples_) +
                  " samples, expected none, one, or one for each sample");
  }

  Index samples() const { return samples_; }
  Index state_size() const { return state_size_; }
  Index feature_size(int /*stage*/) const { return feature_size_; }
  bool template_known() const { return templates_.cols() > 0; }

  void features(Index sample, int /*stage*/, ConstVectorRef<Scalar> x,
                VectorRef<Scalar> out) const {
    h_(x, out);
    if (template_known()) out -= templates_.col(templates_.cols() == 1 ? 0 : sample);
  }

 private:
  H h_;
  Index state_size_, feature_size_, samples_;
  Matrix<Scalar> templates_;
};

/// `function_problem<double>(h, n, m, samples, templates)` without naming the type of h.
template <class Scalar, class H>
FunctionProblem<Scalar, H> function_problem(H h, Index state_size, Index feature_size,
                                            Index samples, Matrix<Scalar> templates = {}) {
  return {std::move(h), state_size, feature_size, samples, std::move(templates)};
}

/// The sizes and moves of a problem, with the defaults for what it leaves out.
template <Problem P>
Index delta_size(const P& p) {
  if constexpr (requires { p.delta_size(); }) {
    return p.delta_size();
  } else {
    return p.state_size();
  }
}

template <Problem P>
void difference(const P& p, ConstVectorRef<typename P::Scalar> x,
                ConstVectorRef<typename P::Scalar> target, VectorRef<typename P::Scalar> out) {
  if constexpr (requires { p.difference(x, target, out); }) {
    p.difference(x, target, out);
  } else {
    out = target - x;
  }
}

template <Problem P>
void step(const P& p, ConstVectorRef<typename P::Scalar> x,
          ConstVectorRef<typename P::Scalar> delta, VectorRef<typename P::Scalar> out) {
  if constexpr (requires { p.step(x, delta, out); }) {
    p.step(x, delta, out);
  } else {
    out = x + delta;
  }
}

}  // namespace sdm
