#pragma once

#include <functional>
#include <string>

#include "sdm/base/types.h"

namespace sdm {

/// A problem `min |r(x)|^2` near its solution, for those who want the last digits that a learned
/// descent does not give.
struct RefineProblem {
  using Map = std::function<void(ConstVectorRef<double> x, VectorRef<double> out)>;
  using MatrixMap = std::function<void(ConstVectorRef<double> x, Eigen::Ref<Matrix<double>> out)>;
  using Step = std::function<void(ConstVectorRef<double> x, ConstVectorRef<double> delta,
                                  VectorRef<double> out)>;

  /// Number of residuals.
  Index residual_size = 0;
  /// `residual(x, out)`. Where it is not finite, x is taken to be out of bounds.
  Map residual;
  /// `jacobian(x, out)`: out(i, j) = d r_i / d delta_j. Empty: central differences.
  MatrixMap jacobian = {};
  /// How a state moves when it is not a plain vector; `step` and `delta_size` go together.
  Step step = {};
  Index delta_size = 0;
};

struct RefineOptions {
  /// Residual evaluations, those of the numeric Jacobian included.
  int max_evaluations = 2000;

  /// Stop when the residual is this orthogonal to every column of the Jacobian (a cosine).
  double gradient_tolerance = 1e-13;
  /// Stop when a step is this small relative to x.
  double step_tolerance = 1e-13;
  /// Stop when both the expected and the actual decrease of the cost are this small relative to it.
  /// 0 goes on to the limit of rounding, where the steps stop shrinking.
  double cost_tolerance = 0;

  /// First damping, relative to the squared column norms of the Jacobian. Near zero is
  /// Gauss-Newton.
  double initial_damping = 1e-3;

  /// Step of the central differences, relative to |x_j| (absolute where x_j is zero or the state is
  /// no plain vector). The default balances truncation and rounding: cube root of epsilon.
  double difference_step = 6e-6;

  /// Throws Error naming the first option that makes no sense.
  void validate() const;
};

enum class RefineStop { kGradient, kStep, kCost, kEvaluations, kStuck };

struct RefineSummary {
  RefineStop stop = RefineStop::kEvaluations;
  int iterations = 0;
  int evaluations = 0;           // of the residual
  int jacobian_evaluations = 0;  // of the Jacobian, given or numeric
  double initial_cost = 0;       // |r|^2 / 2
  double final_cost = 0;
  double gradient = 0;  // the largest cosine between the residual and a column of the Jacobian

  bool converged() const { return stop <= RefineStop::kCost; }
  std::string brief_report() const;
};

struct RefineResult {
  Vector<double> x;
  RefineSummary summary;
};

/// Levenberg-Marquardt from x0: `(J^T J + lambda D^2) delta = -J^T r`, solved by QR of the damped,
/// column-scaled Jacobian so that badly scaled problems keep their digits. D holds the largest
/// column norms seen (Marquardt's scaling, as in MINPACK).
///
/// Gives the best x found, no worse than x0 up to rounding. Throws Error on bad sizes or options,
/// and if the residual or the Jacobian at x0 is not finite. Thread-safe if the problem's functions
/// are.
RefineResult refine(const RefineProblem& problem, const Vector<double>& x0,
                    const RefineOptions& options = {});

}  // namespace sdm
