#include "sdm/descent/refine.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

const char* name(RefineStop stop) {
  switch (stop) {
    case RefineStop::kGradient:
      return "converged: gradient";
    case RefineStop::kStep:
      return "converged: step";
    case RefineStop::kCost:
      return "converged: cost";
    case RefineStop::kEvaluations:
      return "stopped: evaluations";
    case RefineStop::kStuck:
      return "stopped: no step lowers the cost";
  }
  return "";
}

void check(const RefineProblem& problem, const Vector<double>& x0) {
  if (!problem.residual) throw Error("refine: the problem has no residual function");
  if (problem.residual_size < 1)
    throw Error(
        formatted("refine: residual_size is {}, expected at least 1", problem.residual_size));
  if (x0.size() < 1) throw Error("refine: x0 is empty, expected at least one value");
  if (!x0.allFinite()) throw Error("refine: x0 has a value that is not finite");
  if (static_cast<bool>(problem.step) != (problem.delta_size > 0))
    throw Error(formatted("refine: delta_size is {} {} a step function; they go together",
                          problem.delta_size, problem.step ? "with" : "without"));
}

/// The functions of one refinement, counted.
class Evaluator {
 public:
  Evaluator(const RefineProblem& problem, const RefineOptions& options, Index state_size)
      : p_(problem),
        options_(options),
        deltas_(problem.step ? problem.delta_size : state_size),
        moved_(state_size),
        delta_(Vector<double>::Zero(deltas_)),
        forward_(problem.residual_size) {}

  Index deltas() const { return deltas_; }

  void residual(const Vector<double>& x, Vector<double>& out) {
    ++evaluations;
    p_.residual(x, out);
  }

  void step(const Vector<double>& x, const Vector<double>& delta, Vector<double>& out) const {
    if (p_.step)
      p_.step(x, delta, out);
    else
      out = x + delta;
  }

  void jacobian(const Vector<double>& x, Matrix<double>& out) {
    ++jacobians;
    if (p_.jacobian) return p_.jacobian(x, out);
    for (Index j = 0; j < deltas_; ++j) {
      double h = options_.difference_step;
      if (!p_.step && x[j] != 0) h *= std::abs(x[j]);
      delta_[j] = h;
      step(x, delta_, moved_);
      // For plain vectors the difference that was really taken, which rounding moves off h.
      const double up = p_.step ? h : moved_[j] - x[j];
      residual(moved_, forward_);
      delta_[j] = -h;
      step(x, delta_, moved_);
      const double down = p_.step ? h : x[j] - moved_[j];
      auto column = out.col(j);
      ++evaluations;
      p_.residual(moved_, column);
      column = (forward_ - column) / (up + down);
      delta_[j] = 0;
    }
  }

  int evaluations = 0, jacobians = 0;

 private:
  const RefineProblem& p_;
  const RefineOptions& options_;
  Index deltas_;
  Vector<double> moved_, delta_, forward_;
};

}  // namespace

void RefineOptions::validate() const {
  const auto require = [](bool good, const char* option, double value, const char* expected) {
    if (!good) throw Error(formatted("refine: {} is {}, expected {}", option, value, expected));
  };
  require(max_evaluations >= 1, "max_evaluations", max_evaluations, "at least 1");
  require(gradient_tolerance >= 0, "gradient_tolerance", gradient_tolerance, "0 or more");
  require(step_tolerance >= 0, "step_tolerance", step_tolerance, "0 or more");
  require(cost_tolerance >= 0, "cost_tolerance", cost_tolerance, "0 or more");
  require(initial_damping >= 0 && std::isfinite(initial_damping), "initial_damping",
          initial_damping, "0 or more");
  require(difference_step > 0 && difference_step < 1, "difference_step", difference_step,
          "between 0 and 1");
}

std::string RefineSummary::brief_report() const {
  return formatted("{} after {} iterations, {} evaluations: cost {:.6e} -> {:.6e}", name(stop),
                   iterations, evaluations, initial_cost, final_cost);
}

RefineResult refine(const RefineProblem& problem, const Vector<double>& x0,
                    const RefineOptions& options) {
  options.validate();
  check(problem, x0);
  Evaluator f(problem, options, x0.size());
  const Index m = problem.residual_size, n = f.deltas();

  RefineResult result{x0, {}};
  RefineSummary& summary = result.summary;
  Vector<double>& x = result.x;
  Vector<double> r(m), r_new(m), x_new(x.size()), delta(n), d = Vector<double>::Zero(n);
  Matrix<double> jacobian(m, n), damped(m + n, n);
  Vector<double> right = Vector<double>::Zero(m + n);

  f.residual(x, r);
  if (!r.allFinite()) throw Error("refine: the residual at x0 is not finite");
  double cost = r.squaredNorm() / 2;
  summary.initial_cost = cost;

  double damping = options.initial_damping, growth = 2;
  double shortest = std::numeric_limits<double>::infinity();  // step at the limit of rounding
  int stalled = 0;
  const auto finish = [&](RefineStop stop) {
    summary.stop = stop;
    summary.final_cost = cost;
    summary.evaluations = f.evaluations;
    summary.jacobian_evaluations = f.jacobians;
    return result;
  };

  while (true) {
    f.jacobian(x, jacobian);
    if (!jacobian.allFinite()) {
      if (summary.iterations == 0) throw Error("refine: the Jacobian at x0 is not finite");
      return finish(RefineStop::kStuck);
    }
    const Vector<double> norms = jacobian.colwise().norm().transpose();
    summary.gradient = 0;
    for (Index j = 0; j < n; ++j)
      if (norms[j] > 0 && cost > 0)
        summary.gradient = std::max(
            summary.gradient, std::abs(jacobian.col(j).dot(r)) / (norms[j] * std::sqrt(2 * cost)));
    if (summary.gradient <= options.gradient_tolerance) return finish(RefineStop::kGradient);
    d = d.cwiseMax(norms);
    const Vector<double> scale = (d.array() > 0).select(d, 1);

    for (bool accepted = false; !accepted;) {
      if (f.evaluations >= options.max_evaluations) return finish(RefineStop::kEvaluations);
      damped.topRows(m) = jacobian * scale.cwiseInverse().asDiagonal();
      damped.bottomRows(n) = std::sqrt(damping) * Matrix<double>::Identity(n, n);
      right.head(m) = -r;
      const Vector<double> scaled = damped.colPivHouseholderQr().solve(right);
      delta = scaled.cwiseQuotient(scale);
      f.step(x, delta, x_new);
      const double length = scaled.norm();
      const double size = problem.step ? scale.norm() : scale.cwiseProduct(x).norm();
      const bool small = length <= options.step_tolerance * size;

      const double predicted =
          (jacobian * delta).squaredNorm() / 2 + damping * scaled.squaredNorm();
      double actual = -std::numeric_limits<double>::infinity();
      if (x_new.allFinite()) {
        f.residual(x_new, r_new);
        if (r_new.allFinite()) actual = 0.5 * (r - r_new).dot(r + r_new);
      }
      // Rounding in x and in h(x) moves the cost by this much: below it the cost cannot tell two
      // points apart, but shrinking steps still can.
      const double noise = 4 * kEpsilon * r.norm() * (r.norm() + size);
      const bool rounding = predicted <= noise && std::abs(actual) <= noise;
      if (rounding && length >= shortest && ++stalled == 3) return finish(RefineStop::kCost);

      accepted = rounding || (actual > 0 && actual > 1e-4 * predicted);
      if (accepted) {
        const double ratio = rounding ? 1 : actual / predicted;
        damping *= std::clamp(1 - std::pow(2 * ratio - 1, 3), 1.0 / 3, 2.0);
        growth = 2;
        const double before = cost;
        x = x_new;
        r = r_new;
        cost = r.squaredNorm() / 2;
        ++summary.iterations;
        if (rounding) shortest = std::min(shortest, length);
        if (std::max(actual, predicted) <= options.cost_tolerance * before)
          return finish(RefineStop::kCost);
      } else {
        damping = std::max(damping, kEpsilon) * growth;
        growth *= 2;
      }
      if (small) return finish(accepted ? RefineStop::kStep : RefineStop::kStuck);
      if (!std::isfinite(damping)) return finish(RefineStop::kStuck);
    }
  }
}

}  // namespace sdm
