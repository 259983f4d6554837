#pragma once

#include <functional>
#include <limits>
#include <string>

#include "sdm/base/error.h"
#include "sdm/descent/cascade.h"
#include "sdm/descent/problem.h"

namespace sdm {

/// What a solve did. Residuals are |features|: |h(x) - y| where the template is known.
struct SolveSummary {
  int stages = 0;
  double initial_residual = 0;
  double final_residual = 0;             // measured only when asked for, NaN otherwise
  double first_step = 0, last_step = 0;  // norms of the deltas
  bool template_known = true;            // without one |features| is no residual
  bool finite = true;  // false: a feature or a state became NaN or infinite, x is the last good one

  /// Whether it came nearer: values stayed finite, the steps did not grow and, where it was
  /// measured, neither did the residual. No promise that x is the answer: for that there is
  /// `learn`, whose answers say how far they may be trusted.
  bool converged() const {
    return finite && last_step <= first_step &&
           !(template_known && final_residual > initial_residual);
  }
  std::string brief_report() const;
};

template <class Scalar>
struct Solution {
  Vector<Scalar> x;
  SolveSummary summary;
};

/// What one stage works in, sized once.
template <class Scalar>
struct StageBuffers {
  Vector<Scalar> features, scratch, delta, next;

  StageBuffers(Index feature_size, Index rank, Index delta_size, Index state_size)
      : features(feature_size), scratch(rank), delta(delta_size), next(state_size) {}
  explicit StageBuffers(const Cascade<Scalar>& cascade)
      : StageBuffers(cascade.largest_feature_size(), cascade.largest_rank(), cascade.delta_size(),
                     cascade.state_size) {}
};

/// The hook of a solve that wants to see nothing.
struct NoHook {
  template <class... Arguments>
  void operator()(const Arguments&...) const {}
};

/// One stage of the method for one state: `x <- step(k, x, b_k - R_k features(k, x))`.
///
/// `features(stage, x, out)` and `step(stage, x, delta, out)` are the problem's. `hook(stage, x,
/// f)` sees the state and its features before the map is applied, and may change the map. Gives
/// false, and leaves x as it was, where a value is not finite. Allocates nothing.
///
/// `map` is a DescentMap, or anything that has its `feature_size` and `apply`.
template <class Scalar, class Map, class Features, class Step, class Hook = NoHook>
bool stage_update(const Map& map, int stage, VectorRef<Scalar> x, StageBuffers<Scalar>& buffers,
                  Features&& features, Step&& step, Hook&& hook = {}) {
  auto f = buffers.features.head(map.feature_size());
  features(stage, x, f);
  hook(stage, x, f);
  map.apply(f, buffers.scratch, buffers.delta);
  step(stage, x, buffers.delta, buffers.next);
  // A step may clamp what is not finite, so the delta is looked at too.
  if (!buffers.delta.allFinite() || !buffers.next.allFinite()) return false;
  x = buffers.next;
  return true;
}

/// Runs cascades without allocating: the buffers are sized once, here.
/// One solver serves one thread; a cascade can be shared by any number of solvers.
template <class Scalar>
class Solver {
 public:
  /// Needs a cascade that outlives the solver.
  explicit Solver(const Cascade<Scalar>& cascade) : cascade_(&cascade), buffers_(cascade) {
    if (cascade.stages() == 0) throw Error("the cascade has no stages, expected at least one");
  }
  explicit Solver(Cascade<Scalar>&&) = delete;

  /// Moves x by every stage of the cascade; features, step and hook are those of stage_update.
  /// With `measure_residual` the features are evaluated once more at the end.
  template <class Features, class Step, class Hook = NoHook>
  SolveSummary solve(VectorRef<Scalar> x, Features&& features, Step&& step,
                     bool measure_residual = false, Hook&& hook = {}) {
    SolveSummary summary;
    summary.final_residual = std::numeric_limits<double>::quiet_NaN();
    summary.template_known = cascade_->template_known;
    for (int stage = 0; stage < cascade_->stages(); ++stage) {
      const DescentMap<Scalar>& map = cascade_->maps[static_cast<std::size_t>(stage)];
      summary.finite = stage_update<Scalar>(map, stage, x, buffers_, features, step, hook);
      if (stage == 0)
        summary.initial_residual =
            static_cast<double>(buffers_.features.head(map.feature_size()).norm());
      if (!summary.finite) return summary;
      summary.stages = stage + 1;
      summary.last_step = static_cast<double>(buffers_.delta.norm());
      if (stage == 0) summary.first_step = summary.last_step;
    }
    if (measure_residual) {
      auto f = buffers_.features.head(cascade_->maps.back().feature_size());
      features(cascade_->stages() - 1, x, f);
      summary.final_residual = static_cast<double>(f.norm());
    }
    return summary;
  }

  /// The same for one sample of a problem.
  template <Problem P, class Hook = NoHook>
  SolveSummary solve(const P& problem, Index sample, VectorRef<Scalar> x,
                     bool measure_residual = false, Hook&& hook = {}) {
    return solve(
        x, [&](int stage, const auto& at, auto&& out) { problem.features(sample, stage, at, out); },
        [&](int stage, const auto& at, const auto& delta, auto&& out) {
          sdm::step(problem, stage, at, delta, out);
        },
        measure_residual, hook);
  }

 private:
  const Cascade<Scalar>* cascade_;
  StageBuffers<Scalar> buffers_;
};

namespace detail {
template <class Scalar>
void check_fits(const Cascade<Scalar>& cascade, Index state_size, Index x0_size,
                bool template_known);
}

/// Throws Error unless the cascade fits the problem (its states, its deltas, every stage's features
/// and whether there is a template) and a start of this size.
template <Problem P>
void check_fits(const Cascade<typename P::Scalar>& cascade, const P& problem, Index x0_size) {
  detail::check_fits(cascade, problem.state_size(), x0_size, problem.template_known());
  for (int stage = 0; stage < cascade.stages(); ++stage) {
    const auto& map = cascade.maps[static_cast<std::size_t>(stage)];
    if (map.feature_size() != problem.feature_size(stage) ||
        map.delta_size() != delta_size(problem))
      throw Error("stage " + std::to_string(stage) + " of the cascade maps " +
                  std::to_string(map.feature_size()) + " features to " +
                  std::to_string(map.delta_size()) + " values, the problem has " +
                  std::to_string(problem.feature_size(stage)) + " and " +
                  std::to_string(delta_size(problem)));
  }
}

/// Solves one sample of a problem from x0.
/// Throws Error if the cascade does not fit the problem or x0.
template <Problem P>
Solution<typename P::Scalar> solve(const Cascade<typename P::Scalar>& cascade, const P& problem,
                                   Index sample, const Vector<typename P::Scalar>& x0) {
  check_fits(cascade, problem, x0.size());
  Solution<typename P::Scalar> solution{x0, {}};
  Solver<typename P::Scalar> solver(cascade);
  solution.summary = solver.solve(problem, sample, solution.x, true);
  return solution;
}

/// Solves `min |h(x) - y|^2` for plain vectors: h is the function the cascade was trained on,
/// `h(x, out)` or `h(x)`, and y what was measured. Leave y out where the cascade was trained
/// without. Throws Error if x0 or y does not fit the cascade, also where y is left out or given
/// against what it was trained with.
template <class Scalar, class H>
Solution<Scalar> solve(const Cascade<Scalar>& cascade, const H& h,
                       const std::type_identity_t<Vector<Scalar>>& x0,
                       const std::type_identity_t<Vector<Scalar>>& y = {}) {
  const Matrix<Scalar> templates = y.size() == 0 ? Matrix<Scalar>() : Matrix<Scalar>(y);
  return solve(cascade,
               FunctionProblem<Scalar, std::reference_wrapper<const H>>(
                   std::cref(h), cascade.state_size, cascade.largest_feature_size(), 1, templates),
               0, x0);
}

}  // namespace sdm
