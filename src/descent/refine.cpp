#include "sdm/descent/refine.h"

#include <cmath>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm {
namespace {

const char* name(RefineStop stop) {
  switch (stop) {
    case RefineStop::kResidual:
      return "converged: residual";
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

void check_bounds(const RefineOptions& options, Index size) {
  for (const auto* bound : {&options.lower, &options.upper})
    if (bound->size() != 0 && bound->size() != size)
      throw Error(formatted("refine: {} has {} values, expected {} or none",
                            bound == &options.lower ? "lower" : "upper", bound->size(), size));
  for (Index j = 0; j < size; ++j) {
    const double low = options.lower.size() > 0 ? options.lower[j] : -HUGE_VAL;
    const double high = options.upper.size() > 0 ? options.upper[j] : HUGE_VAL;
    if (!(low <= high))
      throw Error(formatted("refine: bounds {} and {} of value {}, expected the lower one first",
                            low, high, j));
  }
}

}  // namespace

void RefineOptions::validate() const {
  const auto require = [](bool good, const char* option, double value, const char* expected) {
    if (!good) throw Error(formatted("refine: {} is {}, expected {}", option, value, expected));
  };
  require(max_evaluations >= 1, "max_evaluations", max_evaluations, "at least 1");
  require(residual_tolerance >= 0, "residual_tolerance", residual_tolerance, "0 or more");
  require(gradient_tolerance >= 0, "gradient_tolerance", gradient_tolerance, "0 or more");
  require(step_tolerance >= 0, "step_tolerance", step_tolerance, "0 or more");
  require(cost_tolerance >= 0, "cost_tolerance", cost_tolerance, "0 or more");
  require(initial_damping >= 0 && std::isfinite(initial_damping), "initial_damping",
          initial_damping, "0 or more");
  require(difference_step > 0 && difference_step < 1, "difference_step", difference_step,
          "between 0 and 1");
  require(loss_scale > 0 && std::isfinite(loss_scale), "loss_scale", loss_scale, "more than 0");
}

std::string RefineSummary::brief_report() const {
  return formatted("{} after {} iterations, {} evaluations: cost {:.6e} -> {:.6e}", name(stop),
                   iterations, evaluations, initial_cost, final_cost);
}

void detail::check_refine(const double* x0, Index state_size, Index residual_size, Index delta_size,
                          bool plain_vectors, const RefineOptions& options) {
  options.validate();
  for (Index j = 0; j < state_size; ++j)
    if (!std::isfinite(x0[j])) throw Error("refine: x0 has a value that is not finite");
  if (plain_vectors && state_size != delta_size)
    throw Error(formatted("refine: {} deltas for {} unknowns without a step function", delta_size,
                          state_size));
  if (options.lower.size() > 0 || options.upper.size() > 0) {
    if (!plain_vectors)
      throw Error("refine: bounds are for plain vectors, not with a step function");
    check_bounds(options, state_size);
  }
  const bool broyden = options.method == RefineMethod::kBroyden;
  if (options.seed.size() == 0 && !broyden) return;
  if (options.seed.rows() != delta_size || options.seed.cols() != residual_size)
    throw Error(formatted("refine: the seed is {} x {}, expected {} x {}", options.seed.rows(),
                          options.seed.cols(), delta_size, residual_size));
  if (!options.seed.allFinite()) throw Error("refine: the seed has a value that is not finite");
  if (broyden && options.loss != RobustLoss::kNone)
    throw Error("refine: Broyden's method knows no robust loss");
}

}  // namespace sdm
