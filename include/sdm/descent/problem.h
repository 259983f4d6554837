#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include "sdm/base/error.h"
#include "sdm/base/types.h"

namespace sdm {

/// What a user writes where a plain function is not enough: a family of nonlinear least-squares
/// problems `min |h(x) - y|^2`, one per training sample.
///
/// `features(sample, stage, x, out)` fills `out` with
///   - `h(x) - y` where the template y is known (`template_known()` is true): the same y for every
///     sample (section "Relaxed SDM") or one for each (section "Generalized SDM");
///   - `h(x)` where y is unknown (section "Unknown y*"); the maps then carry a bias.
/// Training calls it from several threads at once, so it must not change shared state.
///
/// Optional members, found by name; all const. One that is there but cannot be called as written
/// here is a compile error.
///   - `delta_size()`, `difference(x, target, out)`, `step(stage, x, delta, out)`: how states move
///     when they are not plain vectors (a rotation, a warp). `step(k, x, difference(x, t)) == t`.
///   - `group(sample)`: samples of one group (all starts of one photo) share a fold. Groups are
///     numbered from 0.
///   - `weight(sample)`: how much the sample counts, 1 unless told.
///   - `error(sample, delta)`: the size of a delta in the user's own unit; its norm unless told.
///   - `moved(stage)`: the values of a delta that the stage moves, in ascending order; the others
///     stay, and cost nothing. All, where it gives none.
///   - `symmetry(stage)`: a mirror symmetry of features and deltas (of those that the stage moves;
///     linear/symmetry.h).
///   - `values_at(stage, x, out)` and `subtract_template(sample, out)`: where features are the
///     values of one function less a template of the sample. Training then evaluates the function
///     once where all samples start at one place. `features` must do the two one after the other.
///   - `learned(stage, map)`: told of every map when it is there, also one of a checkpoint, by
///     the thread that called `train`: to measure it on samples that training does not see.
///   - `renew(stage, maps, states, targets)`: new samples in place of the last ones, as many and in
///     the same groups, before every stage but the first: fills their states, moved by the maps so
///     far, and their targets. false: none, the last ones stay. Not with a checkpoint.
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

namespace detail {

// Whether a class has a member of a name, whatever its type: if it has, the name is ambiguous in a
// class that inherits another one of that name. A final class cannot be asked.
#define SDM_HAS_MEMBER(name)                                                    \
  struct With_##name {                                                          \
    int name;                                                                   \
  };                                                                            \
  template <class P>                                                            \
  struct Both_##name : P, With_##name {};                                       \
  template <class P>                                                            \
  concept has_##name = std::is_class_v<P> && !std::is_final_v<P> && !requires { \
    &Both_##name<P>::name;                                                      \
  };
SDM_HAS_MEMBER(delta_size)
SDM_HAS_MEMBER(difference)
SDM_HAS_MEMBER(step)
SDM_HAS_MEMBER(group)
SDM_HAS_MEMBER(weight)
SDM_HAS_MEMBER(error)
SDM_HAS_MEMBER(moved)
SDM_HAS_MEMBER(symmetry)
SDM_HAS_MEMBER(learned)
SDM_HAS_MEMBER(renew)
#undef SDM_HAS_MEMBER

template <class P>
concept Moves = requires(const P& p, int stage, ConstVectorRef<typename P::Scalar> x,
                         VectorRef<typename P::Scalar> out) {
  p.difference(x, x, out);
  p.step(stage, x, x, out);
};

/// Features are the values of one function, the same for every sample, less the sample's template.
template <class P>
concept OneFunction = requires(const P& p, Index sample, int stage,
                               ConstVectorRef<typename P::Scalar> x,
                               VectorRef<typename P::Scalar> out) {
  p.values_at(stage, x, out);
  p.subtract_template(sample, out);
};

/// Refuses optional members that would be passed over in silence.
template <Problem P>
constexpr void check_members() {
  using X = ConstVectorRef<typename P::Scalar>;
  static_assert(
      Moves<P> || !(has_difference<P> || has_step<P>),
      "a problem with its own moves needs both `void difference(x, target, out) const` and "
      "`void step(int stage, x, delta, out) const`; one of them is missing, not const, or "
      "has other parameters");
  static_assert(Moves<P> || !has_delta_size<P>,
                "a problem with `delta_size` needs `difference` and `step` too: without them a "
                "delta is as large as a state");
  static_assert(
      requires(const P& p) { Index(p.delta_size()); } || !has_delta_size<P>,
      "`delta_size` of this problem cannot be called as `Index delta_size() const`");
  static_assert(
      requires(const P& p) { Index(p.group(Index())); } || !has_group<P>,
      "`group` of this problem cannot be called as `Index group(Index sample) const`");
  static_assert(
      requires(const P& p) { double(p.weight(Index())); } || !has_weight<P>,
      "`weight` of this problem cannot be called as `double weight(Index sample) const`");
  static_assert(
      requires(const P& p, X delta) { double(p.error(Index(), delta)); } || !has_error<P>,
      "`error` of this problem cannot be called as `double error(Index sample, delta) const`");
}

/// `h(x, out)`, or `out = h(x)` for a function that returns its values.
template <class H, class X, class Out>
void evaluate(const H& h, const X& x, Out&& out) {
  if constexpr (requires { h(x, out); }) {
    h(x, out);
  } else {
    static_assert(
        requires { out = h(x); },
        "h cannot be called as `h(x, out)`, filling out, nor as `out = h(x)`");
    const auto& values = h(x);
    if (values.size() != out.size())
      throw Error("h gave " + std::to_string(values.size()) + " values, expected " +
                  std::to_string(out.size()));
    out = values;
  }
}

}  // namespace detail

/// A problem given by one function of plain vectors, `h(x, out)` or `h(x)`, and its templates.
/// Covers the paper's three cases: one column of templates is a fixed y, one column a sample is a
/// known y that differs, no column at all is an unknown y. `train` and `solve` make one of a plain
/// function; to have it in hand helps where a sample is solved by its number.
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

  void features(Index sample, int stage, ConstVectorRef<Scalar> x, VectorRef<Scalar> out) const {
    values_at(stage, x, out);
    subtract_template(sample, out);
  }
  void values_at(int /*stage*/, ConstVectorRef<Scalar> x, VectorRef<Scalar> out) const {
    detail::evaluate(h_, x, out);
  }
  void subtract_template(Index sample, VectorRef<Scalar> out) const {
    if (template_known()) out -= templates_.col(templates_.cols() == 1 ? 0 : sample);
  }

 private:
  H h_;
  Index state_size_, feature_size_, samples_;
  Matrix<Scalar> templates_;
};

/// A function and examples as a problem: sizes and samples are taken from `targets` (the states)
/// and `templates` (h of each, as measured).
template <class H, class Targets, class Templates>
auto function_problem(H h, const Eigen::MatrixBase<Targets>& targets,
                      const Eigen::MatrixBase<Templates>& templates) {
  using Scalar = typename Targets::Scalar;
  return FunctionProblem<Scalar, H>(std::move(h), targets.rows(), templates.rows(),
                                    std::max(targets.cols(), templates.cols()),
                                    Matrix<Scalar>(templates));
}

/// The same with the sizes told; without templates y is unknown.
template <class Scalar, class H>
FunctionProblem<Scalar, H> function_problem(H h, Index state_size, Index feature_size,
                                            Index samples, Matrix<Scalar> templates = {}) {
  return {std::move(h), state_size, feature_size, samples, std::move(templates)};
}

/// The sizes and moves of a problem, with the defaults for what it leaves out.
template <Problem P>
Index delta_size(const P& p) {
  detail::check_members<P>();
  if constexpr (requires { p.delta_size(); }) {
    return p.delta_size();
  } else {
    return p.state_size();
  }
}

template <Problem P>
void difference(const P& p, ConstVectorRef<typename P::Scalar> x,
                ConstVectorRef<typename P::Scalar> target, VectorRef<typename P::Scalar> out) {
  detail::check_members<P>();
  if constexpr (detail::Moves<P>) {
    p.difference(x, target, out);
  } else {
    out = target - x;
  }
}

template <Problem P>
void step(const P& p, int stage, ConstVectorRef<typename P::Scalar> x,
          ConstVectorRef<typename P::Scalar> delta, VectorRef<typename P::Scalar> out) {
  detail::check_members<P>();
  if constexpr (detail::Moves<P>) {
    p.step(stage, x, delta, out);
  } else {
    out = x + delta;
  }
}

}  // namespace sdm
