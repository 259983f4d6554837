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
  double final_residual = 0;  // measured only when asked for, NaN otherwise
  double last_step = 0;       // norm of the last delta
  bool finite = true;  // false: a feature or a state became NaN or infinite, x is the last good one

  std::string brief_report() const;
};

template <class Scalar>
struct Solution {
  Vector<Scalar> x;
  SolveSummary summary;
};

/// Runs cascades without allocating: the buffers are sized once, here.
/// One solver serves one thread; a cascade can be shared by any number of solvers.
template <class Scalar>
class Solver {
 public:
  /// Needs a cascade that outlives the solver.
  explicit Solver(const Cascade<Scalar>& cascade)
      : cascade_(&cascade),
        features_(cascade.largest_feature_size()),
        scratch_(cascade.largest_rank()),
        delta_(cascade.delta_size()),
        next_(cascade.state_size) {
    if (cascade.stages() == 0) throw Error("the cascade has no stages, expected at least one");
  }
  explicit Solver(Cascade<Scalar>&&) = delete;

  /// Moves x by every stage of the cascade: `x <- step(x, b_k - R_k features(k, x))`.
  /// `features(stage, x, out)` and `step(x, delta, out)` are the problem's.
  /// With `measure_residual` the features are evaluated once more at the end.
  template <class Features, class Step>
  SolveSummary solve(VectorRef<Scalar> x, Features&& features, Step&& step,
                     bool measure_residual = false) {
    SolveSummary summary;
    summary.final_residual = std::numeric_limits<double>::quiet_NaN();
    for (int stage = 0; stage < cascade_->stages(); ++stage) {
      const DescentMap<Scalar>& map = cascade_->maps[static_cast<std::size_t>(stage)];
      auto f = features_.head(map.feature_size());
      features(stage, x, f);
      if (stage == 0) summary.initial_residual = static_cast<double>(f.norm());
      map.apply(f, scratch_, delta_);
      step(x, delta_, next_);
      // A step may clamp what is not finite, so the delta is looked at too.
      if (!delta_.allFinite() || !next_.allFinite()) {
        summary.finite = false;
        return summary;
      }
      x = next_;
      summary.stages = stage + 1;
      summary.last_step = static_cast<double>(delta_.norm());
    }
    if (measure_residual) {
      const int last = cascade_->stages() - 1;
      auto f = features_.head(cascade_->maps.back().feature_size());
      features(last, x, f);
      summary.final_residual = static_cast<double>(f.norm());
    }
    return summary;
  }

  /// The same for one sample of a problem.
  template <Problem P>
  SolveSummary solve(const P& problem, Index sample, VectorRef<Scalar> x,
                     bool measure_residual = false) {
    return solve(
        x, [&](int stage, const auto& at, auto&& out) { problem.features(sample, stage, at, out); },
        [&](const auto& at, const auto& delta, auto&& out) { sdm::step(problem, at, delta, out); },
        measure_residual);
  }

 private:
  const Cascade<Scalar>* cascade_;
  Vector<Scalar> features_, scratch_, delta_, next_;
};

namespace detail {
template <class Scalar>
void check_fits(const Cascade<Scalar>& cascade, Index state_size, Index x0_size);
}

/// Throws Error unless the cascade fits the problem (its states, its deltas and every stage's
/// features) and a start of this size.
template <Problem P>
void check_fits(const Cascade<typename P::Scalar>& cascade, const P& problem, Index x0_size) {
  detail::check_fits(cascade, problem.state_size(), x0_size);
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

/// Solves `min |h(x) - y|^2` for plain vectors; `h(x, out)` is the function the cascade was trained
/// on and y the template of this solve. Leave y empty where it is unknown.
template <class Scalar, class H>
Solution<Scalar> solve(const Cascade<Scalar>& cascade, const H& h, const Vector<Scalar>& x0,
                       const Vector<Scalar>& y = {}) {
  const Index features = cascade.largest_feature_size();
  return solve(cascade,
               function_problem<Scalar>(std::cref(h), cascade.state_size, features, 1,
                                        y.size() == 0 ? Matrix<Scalar>() : Matrix<Scalar>(y)),
               0, x0);
}

}  // namespace sdm
