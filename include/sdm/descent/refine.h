#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "sdm/base/error.h"
#include "sdm/base/types.h"
#include "sdm/descent/robust_loss.h"

namespace sdm {

struct NoJacobian {};
struct NoStep {};

/// A problem `min |r(x)|^2` near its solution, for those who want the last digits that a learned
/// descent does not give.
///
///     RefineProblem{residual_size, residual}
///     RefineProblem{residual_size, residual, jacobian}
///     RefineProblem{residual_size, residual, NoJacobian{}, step, delta_size}
///
/// The functions are kept by their own types, so that a compiler can inline them. They are given
/// plain Eigen vectors and matrices: take `const auto&` and `auto&&`, or `ConstVectorRef<double>`
/// and `VectorRef<double>`.
template <class Residual, class Jacobian = NoJacobian, class Step = NoStep>
struct RefineProblem {
  /// Number of residuals.
  Index residual_size = 0;
  /// `residual(x, out)`. Where it is not finite, x is taken to be out of bounds.
  Residual residual;
  /// `jacobian(x, out)`: out(i, j) = d r_i / d delta_j. NoJacobian: central differences.
  Jacobian jacobian = {};
  /// `step(x, delta, out)`: how a state moves when it is not a plain vector; goes together with
  /// `delta_size`.
  Step step = {};
  Index delta_size = 0;
};

template <class Residual, class Jacobian = NoJacobian, class Step = NoStep>
RefineProblem(Index, Residual, Jacobian = {}, Step = {}, Index = 0)
    -> RefineProblem<Residual, Jacobian, Step>;

enum class RefineMethod {
  /// Broyden where there is no Jacobian, a seed and as many residuals as unknowns; else
  /// Levenberg-Marquardt.
  kAutomatic,
  kLevenbergMarquardt,
  /// Needs a seed. Hands over to Levenberg-Marquardt where it stalls.
  kBroyden,
};

struct RefineOptions {
  /// Residual evaluations, those of the numeric Jacobian included.
  int max_evaluations = 2000;

  /// Stop when |r| is this small. 0: exact problems end by their step.
  double residual_tolerance = 0;
  /// Stop when the residual is this orthogonal to every column of the Jacobian (a cosine).
  double gradient_tolerance = 1e-10;
  /// Stop when a step is this small relative to x.
  double step_tolerance = 1e-10;
  /// Stop when both the expected and the actual decrease of the cost are this small relative to it:
  /// x then moves by about a millionth of its own uncertainty. 0 goes on to the limit of rounding,
  /// where the steps stop shrinking.
  double cost_tolerance = 1e-12;
  /// Stop by `cost_tolerance` a step before, where the last two decreases foretell that the next
  /// one is as small. Only if the steps shrink at a steady rate and damping holds no direction
  /// back.
  bool foretell_decrease = false;

  /// First damping, relative to the squared column norms of the Jacobian. Near zero is
  /// Gauss-Newton.
  double initial_damping = 1e-4;

  /// Step of the central differences, relative to |x_j| (absolute where x_j is zero or the state is
  /// no plain vector). The default balances truncation and rounding: cube root of epsilon. Where
  /// the difference drowns in rounding, as it does at an x_j that is far smaller than its effect,
  /// the step grows up to this absolute one.
  double difference_step = 6e-6;

  /// The answer stays within these; empty: no bounds. For plain vectors only.
  Vector<double> lower = {}, upper = {};

  /// What each residual costs, and the scale in units of the residual.
  RobustLoss loss = RobustLoss::kNone;
  double loss_scale = 1;

  RefineMethod method = RefineMethod::kAutomatic;
  /// For Broyden: an approximate inverse of the Jacobian, delta_size x residual_size. The last
  /// learned map R is one, for it moves by `delta = -R r`.
  Matrix<double> seed = {};

  /// Also give the covariance of the answer.
  bool covariance = false;
  /// The residuals have unit variance (divided by their known deviation): the covariance is then
  /// `(J^T J)^-1`, not scaled by what is left over.
  bool whitened = false;

  /// Throws Error naming the first option that makes no sense.
  void validate() const;
};

enum class RefineStop { kResidual, kGradient, kStep, kCost, kEvaluations, kStuck };

struct RefineSummary {
  RefineStop stop = RefineStop::kEvaluations;
  RefineMethod method = RefineMethod::kLevenbergMarquardt;  // the one that ended it
  int iterations = 0;                                       // steps that were taken
  int evaluations = 0;                                      // of the residual
  int jacobian_evaluations = 0;                             // of the Jacobian, given or numeric
  double initial_cost = 0;                                  // sum of rho(r_i) / 2; |r|^2 / 2
  double final_cost = 0;
  /// The largest cosine between the residual and a column of the Jacobian, bounds that hold a
  /// variable aside, where the Jacobian was last evaluated.
  double gradient = 0;
  /// The rank of the Jacobian at the answer, -1 unless the covariance was asked for.
  int rank = -1;

  bool converged() const { return stop <= RefineStop::kCost; }
  std::string brief_report() const;
};

struct RefineResult {
  Vector<double> x;
  RefineSummary summary;
  /// Of the deltas; empty unless asked for. Infinite where the data do not determine it: the
  /// Jacobian is rank-deficient, or no residuals are left over to tell the noise from.
  Matrix<double> covariance;
};

namespace detail {
/// Throws Error if x0, the sizes and the options do not go together.
void check_refine(const double* x0, Index state_size, Index residual_size, Index delta_size,
                  bool plain_vectors, const RefineOptions& options);
}  // namespace detail

/// Refines without allocating: the buffers are sized once, here, or at compile time where the sizes
/// are known. One refiner serves one thread.
///
/// Levenberg-Marquardt: `(J^T J + lambda D^2) delta = -J^T r`, by Cholesky, or where that is too
/// badly conditioned by QR of the damped, column-scaled Jacobian, so that badly scaled problems
/// keep their digits. D holds the largest column norms seen (Marquardt's scaling, as in MINPACK).
/// Bounds: a variable at its bound whose gradient points out is held there, one whose step would
/// leave is stopped at its bound and the others are solved for again. Losses: rows are weighted by
/// the curvature of the loss, no less than a tenth of its weight in reweighted least squares.
///
/// Broyden: `delta = -B r`, B the seed at first, then `B += (delta - B y) (delta^T B) / (delta^T B
/// y)` with y the change of the residual (the "good" update): one evaluation a step, no Jacobian.
template <int kStates = Eigen::Dynamic, int kResiduals = Eigen::Dynamic, int kDeltas = kStates>
class Refiner {
  static constexpr int kRows = kResiduals == Eigen::Dynamic || kDeltas == Eigen::Dynamic
                                   ? Eigen::Dynamic
                                   : kResiduals + kDeltas;
  static constexpr int kColumns = kDeltas == Eigen::Dynamic ? Eigen::Dynamic : kDeltas + 1;

 public:
  using State = Eigen::Matrix<double, kStates, 1>;
  using Residuals = Eigen::Matrix<double, kResiduals, 1>;
  using Delta = Eigen::Matrix<double, kDeltas, 1>;
  using JacobianMatrix = Eigen::Matrix<double, kResiduals, kDeltas>;
  using DeltaMatrix = Eigen::Matrix<double, kDeltas, kDeltas>;

  /// For sizes that are known at compile time.
  Refiner() : Refiner(kStates, kResiduals, kDeltas) {
    static_assert(kStates > 0 && kResiduals > 0 && kDeltas > 0, "Refiner: give the sizes");
  }
  Refiner(Index state_size, Index residual_size) : Refiner(state_size, residual_size, state_size) {}
  /// Throws Error if a size is less than one or not the one known at compile time.
  Refiner(Index state_size, Index residual_size, Index delta_size)
      : x_(checked(state_size, kStates)),
        x_new_(state_size),
        r_(checked(residual_size, kResiduals)),
        r_new_(residual_size),
        weighted_(residual_size),
        delta_(checked(delta_size, kDeltas)),
        scaled_(delta_size),
        target_(delta_size),
        gradient_(delta_size),
        scale_(delta_size),
        inverse_scale_(delta_size),
        pivots_(delta_size),
        difference_floor_(delta_size),
        jacobian_(residual_size, delta_size),
        hessian_(delta_size, delta_size),
        factor_(delta_size, delta_size),
        covariance_(delta_size, delta_size),
        damped_(residual_size + delta_size, delta_size + 1),
        order_(delta_size),
        held_(delta_size),
        stopped_(delta_size) {}

  /// Moves x to the answer: the best found, feasible, and no worse than the start up to rounding.
  /// Throws Error on bad sizes or options, and if the residual or the Jacobian at x is not finite.
  template <class R, class J, class S>
  RefineSummary refine(Eigen::Ref<State> x, const RefineProblem<R, J, S>& problem,
                       const RefineOptions& options = {}) {
    constexpr bool plain = std::is_same_v<S, NoStep>;
    const Index deltas = plain ? 0 : delta_.size();
    if (problem.residual_size != r_.size() || problem.delta_size != deltas)
      throw Error("refine: residual_size or delta_size of the problem is not the refiner's");
    return run(x, Functions<R, J, S>{problem.residual, problem.jacobian, problem.step}, options);
  }
  /// For plain vectors; `residual` and `jacobian` are those of RefineProblem.
  template <class R, class J = NoJacobian>
  RefineSummary refine(Eigen::Ref<State> x, const R& residual, const J& jacobian = {},
                       const RefineOptions& options = {}) {
    const NoStep step;
    return run(x, Functions<R, J, NoStep>{residual, jacobian, step}, options);
  }

  /// Residuals at the last answer.
  const Residuals& residuals() const { return r_; }
  /// Of the last answer where it was asked for, see RefineResult::covariance.
  const DeltaMatrix& covariance() const { return covariance_; }

 private:
  template <class R, class J, class S>
  struct Functions {
    static constexpr bool has_jacobian = !std::is_same_v<J, NoJacobian>;
    static constexpr bool plain = std::is_same_v<S, NoStep>;
    const R& residual;
    const J& jacobian;
    const S& step;
  };

  static constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  /// Cholesky's pivots, relative to the diagonal, below which QR is asked: the step then has about
  /// six digits.
  static constexpr double kSmallestPivot = 1e-10;
  /// The share of the decrease before below which a decrease counts as converging, and the share of
  /// the least pivot below which damping holds no direction back.
  static constexpr double kSteady = 0.1, kFree = 0.01;
  /// The most that a good step lowers the damping.
  static constexpr double kLeastFactor = 0.1;

  static Index checked(Index size, int known) {
    if (size < 1 || (known != Eigen::Dynamic && size != known))
      throw Error("Refiner: a size of " + std::to_string(size) + ", expected " +
                  (known == Eigen::Dynamic ? "at least 1" : std::to_string(known)));
    return size;
  }

  template <class F>
  RefineSummary run(Eigen::Ref<State> x, const F& f, const RefineOptions& options) {
    detail::check_refine(x.data(), x.size(), r_.size(), delta_.size(), F::plain, options);
    if (x.size() != x_.size()) throw Error("refine: the size of x is not the refiner's");
    summary_ = {};
    x_ = x;
    if (options.lower.size() > 0) x_ = x_.cwiseMax(options.lower);
    if (options.upper.size() > 0) x_ = x_.cwiseMin(options.upper);
    cost_ = evaluate(f, options, x_, r_);
    if (!std::isfinite(cost_)) throw Error("refine: the residual at x0 is not finite");
    summary_.initial_cost = cost_;

    const bool square = r_.size() == delta_.size() && options.loss == RobustLoss::kNone;
    const bool use_broyden = options.method == RefineMethod::kBroyden ||
                             (options.method == RefineMethod::kAutomatic && !F::has_jacobian &&
                              square && options.seed.size() > 0);
    if (!use_broyden || !broyden(f, options)) levenberg_marquardt(f, options);
    if (options.covariance) find_covariance(f, options);
    summary_.final_cost = cost_;
    x = x_;
    return summary_;
  }

  /// The cost, not finite where a residual is not.
  template <class F>
  double evaluate(const F& f, const RefineOptions& options, const State& x, Residuals& r) {
    ++summary_.evaluations;
    f.residual(x, r);
    if (options.loss == RobustLoss::kNone) return r.squaredNorm() / 2;
    double sum = 0, raw = 0;
    for (Index i = 0; i < r.size(); ++i) {
      sum += loss_value(options.loss, options.loss_scale, r[i]).rho;
      raw += r[i];  // Tukey's is finite at infinity
    }
    return std::isfinite(raw) ? sum / 2 : kInfinity;
  }

  template <class F>
  void move(const F& f, const Delta& delta, const RefineOptions& options, State& out) const {
    if constexpr (F::plain) {
      out = x_ + delta;
      if (options.lower.size() > 0) out = out.cwiseMax(options.lower);
      if (options.upper.size() > 0) out = out.cwiseMin(options.upper);
    } else {
      f.step(x_, delta, out);
    }
  }

  bool finish(RefineStop stop) {
    summary_.stop = stop;
    return true;
  }

  void accept(double cost) {
    x_.swap(x_new_);
    r_.swap(r_new_);
    cost_ = cost;
    ++summary_.iterations;
  }

  // ---- Broyden --------------------------------------------------------------------------------

  /// False where Levenberg-Marquardt must go on. `jacobian_` holds the transposed inverse.
  template <class F>
  bool broyden(const F& f, const RefineOptions& options) {
    summary_.method = RefineMethod::kBroyden;
    jacobian_ = options.seed.transpose();
    const Index n = delta_.size();
    double length = std::sqrt(2 * cost_);
    for (int poor = 0; poor < 2;) {
      if (length <= options.residual_tolerance) return finish(RefineStop::kResidual);
      if (summary_.evaluations >= options.max_evaluations) return finish(RefineStop::kEvaluations);
      for (Index j = 0; j < n; ++j) delta_[j] = -jacobian_.col(j).dot(r_);
      if (!delta_.allFinite()) return false;
      move(f, delta_, options, x_new_);
      if (!x_new_.allFinite()) return false;
      const double cost = evaluate(f, options, x_new_, r_new_);
      if (!(cost < cost_)) return cost == 0 && finish(RefineStop::kResidual);
      const double size = F::plain ? x_.norm() : 1;
      const bool small = delta_.norm() <= options.step_tolerance * size;
      const double before = length;
      length = std::sqrt(2 * cost);
      accept(cost);
      // A step can be small because the seed is: what it did to the residual tells.
      if (small && length <= before / 2 && r_.size() == n) return finish(RefineStop::kStep);
      poor = length > 0.7 * before ? poor + 1 : 0;

      // r_new_ holds the residual before: y = r - r_new. Then B y, and B^T delta.
      r_new_ = r_ - r_new_;
      double denominator = 0;
      for (Index j = 0; j < n; ++j) {
        scaled_[j] = jacobian_.col(j).dot(r_new_);
        denominator += delta_[j] * scaled_[j];
      }
      if (std::abs(denominator) < 1e-12 * delta_.norm() * scaled_.norm()) return false;
      weighted_.setZero();
      for (Index j = 0; j < n; ++j) weighted_ += delta_[j] * jacobian_.col(j);
      for (Index j = 0; j < n; ++j)
        jacobian_.col(j) += ((delta_[j] - scaled_[j]) / denominator) * weighted_;
    }
    return false;
  }

  // ---- Levenberg-Marquardt --------------------------------------------------------------------

  template <class F>
  bool levenberg_marquardt(const F& f, const RefineOptions& options) {
    summary_.method = RefineMethod::kLevenbergMarquardt;
    difference_floor_.setZero();
    scale_.setZero();
    blocked_ = false;
    double damping = options.initial_damping, growth = 2;
    double shortest = kInfinity;  // step at the limit of rounding
    double last_decrease = 0;     // of the step before, relative; 0: it tells nothing of the next
    int stalled = 0;

    while (true) {
      if (cost_ == 0 || std::sqrt(2 * cost_) <= options.residual_tolerance) {
        summary_.gradient = 0;
        return finish(RefineStop::kResidual);
      }
      if (!linearise(f, options)) {
        if (summary_.iterations == 0) throw Error("refine: the Jacobian at x0 is not finite");
        return finish(RefineStop::kStuck);
      }
      // Nothing moves the residual: that is no minimum, it is a plateau.
      if (hessian_.diagonal().maxCoeff() == 0) return finish(RefineStop::kStuck);
      if (summary_.gradient <= options.gradient_tolerance) return finish(RefineStop::kGradient);
      double size = 0;
      if constexpr (F::plain)
        size = scale_.cwiseProduct(x_).norm();
      else
        size = scale_.norm();
      const double residual_norm = std::sqrt(2 * cost_);
      // Rounding in x and in h(x) moves the cost by this much: below it the cost cannot tell two
      // points apart, but shrinking steps still can.
      const double noise = 4 * kEpsilon * residual_norm * (residual_norm + size);

      for (bool accepted = false; !accepted;) {
        if (summary_.evaluations >= options.max_evaluations)
          return finish(RefineStop::kEvaluations);
        const double used_damping = damping;
        const double predicted = find_step(damping, options);
        const double length = scaled_.norm();
        const double undamped = length * (1 + damping);  // what damping has shortened tells nothing
        const bool small = length <= options.step_tolerance * size;
        if (blocked_ && (small || predicted <= 0)) {
          // The bounds leave nothing of this step; a shorter one goes along the gradient.
          damping = std::max(damping, kEpsilon) * growth;
          growth *= 2;
          if (!std::isfinite(damping)) return finish(RefineStop::kStuck);
          continue;
        }
        move(f, delta_, options, x_new_);
        double actual = -kInfinity, cost = kInfinity;
        if (x_new_.allFinite()) {
          cost = evaluate(f, options, x_new_, r_new_);
          if (std::isfinite(cost))
            actual = options.loss == RobustLoss::kNone ? 0.5 * (r_ - r_new_).dot(r_ + r_new_)
                                                       : cost_ - cost;
        }
        const bool rounding = std::abs(predicted) <= noise && std::abs(actual) <= noise;
        if (rounding && length >= shortest && ++stalled == 3) return finish(RefineStop::kCost);

        accepted = rounding || (actual > 0 && actual > 1e-4 * predicted);
        if (accepted) {
          const double ratio = rounding ? 1 : actual / predicted, surplus = 2 * ratio - 1;
          damping *= std::clamp(1 - surplus * surplus * surplus, kLeastFactor, 2.0);
          growth = 2;
          const double before = cost_;
          accept(cost);
          if (rounding) shortest = std::min(shortest, length);
          const double decrease = std::max(actual, predicted) / before;
          if (decrease <= options.cost_tolerance) return finish(RefineStop::kCost);
          const bool is_steady =
              options.foretell_decrease && !blocked_ && used_damping <= kFree * weakest_;
          if (is_steady && decrease < kSteady * last_decrease &&
              decrease * decrease <= options.cost_tolerance * last_decrease)
            return finish(RefineStop::kCost);
          last_decrease = is_steady ? decrease : 0;
        } else {
          last_decrease = 0;
          damping = std::max(damping, kEpsilon) * growth;
          growth *= 2;
        }
        if (small && !accepted) return finish(RefineStop::kStuck);
        if (accepted && undamped <= options.step_tolerance * size) return finish(RefineStop::kStep);
        if (!std::isfinite(damping)) return finish(RefineStop::kStuck);
      }
    }
  }

  template <class F>
  void evaluate_jacobian(const F& f, const RefineOptions& options) {
    ++summary_.jacobian_evaluations;
    if constexpr (F::has_jacobian)
      f.jacobian(x_, jacobian_);
    else
      differentiate(f, options);
  }

  /// The Jacobian at x, weighted by the loss, J^T J (its upper triangle), J^T r, the scale and the
  /// cosine. False where the Jacobian is not finite.
  template <class F>
  bool linearise(const F& f, const RefineOptions& options) {
    evaluate_jacobian(f, options);
    const Residuals& r = weigh(options);
    const Index n = delta_.size();
    const auto column = [&](Index j) { return jacobian_.data() + j * r.size(); };
    for (Index j = 0; j < n; ++j) {
      Index i = 0;
      for (; i < j; i += 2)
        two_dots(column(j), column(i), column(i + 1), r.size(), hessian_(i, j), hessian_(i + 1, j));
      if (i == j)
        two_dots(column(j), column(j), r.data(), r.size(), hessian_(j, j), gradient_[j]);
      else
        gradient_[j] = jacobian_.col(j).dot(r);
      if (!std::isfinite(hessian_(j, j))) return false;
    }
    const double length = options.loss == RobustLoss::kNone ? std::sqrt(2 * cost_) : r.norm();
    summary_.gradient = 0;
    for (Index j = 0; j < n; ++j) {
      const double norm = std::sqrt(hessian_(j, j));
      scale_[j] = std::max(scale_[j], norm);
      inverse_scale_[j] = scale_[j] > 0 ? 1 / scale_[j] : 1;
      held_[j] = (options.lower.size() > 0 && gradient_[j] > 0 && x_[j] <= options.lower[j]) ||
                 (options.upper.size() > 0 && gradient_[j] < 0 && x_[j] >= options.upper[j]);
      if (!held_[j] && norm > 0 && length > 0)
        summary_.gradient = std::max(summary_.gradient, std::abs(gradient_[j]) / (norm * length));
    }
    return true;
  }

  /// b . first and b . second: two sums at a time keep a processor busy where one waits for itself.
  static void two_dots(const double* b, const double* first, const double* second, Index size,
                       double& to_first, double& to_second) {
    using Four = Eigen::Array<double, 4, 1>;
    using From = Eigen::Map<const Four>;
    Four x = Four::Zero(), y = Four::Zero();
    const Index whole = size - size % 4;
    for (Index k = 0; k < whole; k += 4) {
      const Four at = From(b + k);
      x += at * From(first + k);
      y += at * From(second + k);
    }
    to_first = x.sum();
    to_second = y.sum();
    for (Index k = whole; k < size; ++k) {
      to_first += b[k] * first[k];
      to_second += b[k] * second[k];
    }
  }

  /// Scales the rows of the Jacobian and gives the residuals so that `J^T r` is the gradient of the
  /// robust cost and `J^T J` nearly its curvature.
  const Residuals& weigh(const RefineOptions& options) {
    weighted_residuals_ = options.loss != RobustLoss::kNone;
    if (!weighted_residuals_) return r_;
    for (Index i = 0; i < r_.size(); ++i) {
      const LossValue at = loss_value(options.loss, options.loss_scale, r_[i]);
      const double root = std::sqrt(std::max(at.curvature, at.weight / 10));
      weighted_[i] = root > 0 ? at.weight * r_[i] / root : 0;
      jacobian_.row(i) *= root;
    }
    return weighted_;
  }

  template <class F>
  void differentiate(const F& f, const RefineOptions& options) {
    // Changes smaller than this are mostly rounding.
    const double least = 1e3 * kEpsilon * r_.cwiseAbs().maxCoeff();
    delta_.setZero();
    for (Index j = 0; j < delta_.size(); ++j) {
      while (true) {
        double typical = 1;
        if constexpr (F::plain) {
          typical = std::max(std::abs(x_[j]), difference_floor_[j]);
          if (typical == 0) typical = 1;
        }
        const double h = options.difference_step * typical;
        delta_[j] = h;
        double up = h, down = h;
        move(f, delta_, options, x_new_);
        // For plain vectors the difference that was really taken, which rounding and bounds move.
        if constexpr (F::plain) up = x_new_[j] - x_[j];
        residual_or_centre(f, up, r_new_);
        delta_[j] = -h;
        move(f, delta_, options, x_new_);
        if constexpr (F::plain) down = x_[j] - x_new_[j];
        residual_or_centre(f, down, weighted_);
        delta_[j] = 0;
        r_new_ -= weighted_;
        if (up + down > 0)
          jacobian_.col(j) = r_new_ / (up + down);
        else
          jacobian_.col(j).setConstant(fixed(options, j) ? 0 : kNan);
        if (!F::plain || typical >= 1 || r_new_.cwiseAbs().maxCoeff() > least || fixed(options, j))
          break;
        difference_floor_[j] = std::min(1.0, 1e3 * typical);
      }
    }
  }

  static bool fixed(const RefineOptions& options, Index j) {
    return options.lower.size() > 0 && options.upper.size() > 0 &&
           options.lower[j] == options.upper[j];
  }

  /// The residual at x_new, or where it is not finite the one at x, `away` being no distance then:
  /// a one-sided difference.
  template <class F>
  void residual_or_centre(const F& f, double& away, Residuals& out) {
    if (away != 0) {
      ++summary_.evaluations;
      f.residual(x_new_, out);
      if (out.allFinite()) return;
    }
    out = r_;
    away = 0;
  }

  /// The damped step in `delta_`, and in units of the scale in `scaled_`. Gives the decrease of the
  /// cost that the linear model expects.
  double find_step(double damping, const RefineOptions& options) {
    if (options.lower.size() == 0 && options.upper.size() == 0) {
      const bool by_cholesky = cholesky<false>(damping);
      if (!by_cholesky) qr<false>(damping);
      delta_ = scaled_.cwiseProduct(inverse_scale_);
      const double damped = damping * scaled_.squaredNorm();
      // (J^T J + damping) s = -g, so that |J s|^2 is what damping leaves of -g s.
      if (by_cholesky) return std::max(0.0, (damped - gradient_.dot(delta_)) / 2);
      return squared_change() / 2 + damped;
    }

    // Who would leave is stopped at its bound, and the others are solved for again.
    target_.setZero();
    stopped_ = held_;
    blocked_ = false;
    for (bool leaves = true; leaves;) {
      if (!cholesky<true>(damping)) qr<true>(damping);
      delta_ = scaled_.cwiseProduct(inverse_scale_);
      leaves = false;
      for (Index j = 0; j < delta_.size(); ++j) {
        if (stopped_[j]) continue;
        double to = x_[j] + delta_[j];
        if (options.lower.size() > 0) to = std::max(to, options.lower[j]);
        if (options.upper.size() > 0) to = std::min(to, options.upper[j]);
        if (to == x_[j] + delta_[j]) continue;
        stopped_[j] = leaves = blocked_ = true;
        target_[j] = (to - x_[j]) / inverse_scale_[j];
      }
    }
    return -gradient_.dot(delta_) - squared_change() / 2;
  }

  /// |J delta|^2.
  double squared_change() {
    r_new_.setZero();
    for (Index j = 0; j < delta_.size(); ++j) r_new_ += delta_[j] * jacobian_.col(j);
    return r_new_.squaredNorm();
  }

  /// `(S J^T J S + damping) scaled = -S g` with S the inverse scale; with bounds, those stopped go
  /// to their target. False where it is too badly conditioned.
  template <bool kBounded>
  bool cholesky(double damping) {
    const Index n = delta_.size();
    weakest_ = 0;
    double weakest = kInfinity;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i <= j; ++i) {
        double sum = hessian_(i, j) * inverse_scale_[i] * inverse_scale_[j];
        if (i == j) sum += damping;
        if constexpr (kBounded)
          if (stopped_[i] || stopped_[j]) sum = i == j ? 1 : 0;
        const double diagonal = sum;
        for (Index k = 0; k < i; ++k) sum -= factor_(k, i) * factor_(k, j);
        if (i < j) {
          factor_(i, j) = sum * pivots_[i];
        } else {
          if (!(sum > kSmallestPivot * diagonal)) return false;
          pivots_[j] = 1 / std::sqrt(sum);
          weakest = std::min(weakest, sum);
        }
      }
    }
    weakest_ = weakest;
    for (Index j = 0; j < n; ++j) {
      double sum = -gradient_[j] * inverse_scale_[j];
      if constexpr (kBounded) {
        for (Index i = 0; i < n; ++i)
          if (stopped_[i])
            sum -= hessian_(std::min(i, j), std::max(i, j)) * inverse_scale_[i] *
                   inverse_scale_[j] * target_[i];
        if (stopped_[j]) sum = target_[j];
      }
      for (Index k = 0; k < j; ++k) sum -= factor_(k, j) * scaled_[k];
      scaled_[j] = sum * pivots_[j];
    }
    for (Index j = n - 1; j >= 0; --j) {
      scaled_[j] *= pivots_[j];
      for (Index k = 0; k < j; ++k) scaled_[k] -= factor_(k, j) * scaled_[j];
    }
    return true;
  }

  /// The same by QR of the scaled Jacobian on top of the damping, which squares no condition
  /// number.
  template <bool kBounded>
  void qr(double damping) {
    const Index m = r_.size(), n = delta_.size();
    damped_.bottomRows(n).setZero();
    damped_.col(n).head(m) = -(weighted_residuals_ ? weighted_ : r_);
    for (Index j = 0; j < n; ++j) {
      damped_.col(j).head(m) = inverse_scale_[j] * jacobian_.col(j);
      damped_(m + j, j) = std::sqrt(damping);
      if constexpr (kBounded) {
        if (!stopped_[j]) continue;
        damped_.col(n).head(m) -= target_[j] * damped_.col(j).head(m);
        damped_.col(j).head(m).setZero();
        damped_(m + j, j) = 1;
        damped_(m + j, n) = target_[j];
      }
    }
    triangularise(m + n);
    for (Index k = n - 1; k >= 0; --k) {
      double sum = damped_(k, n);
      for (Index j = k + 1; j < n; ++j) sum -= damped_(k, j) * scaled_[order_[j]];
      scaled_[order_[k]] = pivots_[k] != 0 ? sum / pivots_[k] : 0;
    }
  }

  /// Householder's QR with column pivoting of the first n columns and `rows` rows of `damped_`, in
  /// place; the last column is carried along. R's diagonal is `pivots_`, its column k was column
  /// `order_[k]`.
  void triangularise(Index rows) {
    const Index n = delta_.size();
    for (Index k = 0; k < n; ++k) order_[k] = k;
    for (Index k = 0; k < n; ++k) {
      Index longest = k;
      double square = -1;
      for (Index j = k; j < n; ++j) {
        const double candidate = damped_.col(j).segment(k, rows - k).squaredNorm();
        if (candidate > square) {
          square = candidate;
          longest = j;
        }
      }
      damped_.col(k).swap(damped_.col(longest));
      std::swap(order_[k], order_[longest]);
      auto reflector = damped_.col(k).segment(k, rows - k);
      const double pivot = reflector[0] > 0 ? -std::sqrt(square) : std::sqrt(square);
      pivots_[k] = pivot;
      if (pivot == 0) continue;
      reflector[0] -= pivot;
      const double factor = -1 / (pivot * reflector[0]);
      for (Index j = k + 1; j <= n; ++j) {
        auto column = damped_.col(j).segment(k, rows - k);
        column -= (factor * reflector.dot(column)) * reflector;
      }
    }
  }

  // ---- Covariance -----------------------------------------------------------------------------

  template <class F>
  void find_covariance(const F& f, const RefineOptions& options) {
    const Index m = r_.size(), n = delta_.size();
    covariance_.setConstant(kInfinity);
    summary_.rank = 0;
    difference_floor_.setZero();
    evaluate_jacobian(f, options);
    for (Index j = 0; j < n; ++j) {
      const double norm = jacobian_.col(j).norm();
      if (!std::isfinite(norm)) return;
      inverse_scale_[j] = norm > 0 ? 1 / norm : 1;
      damped_.col(j).head(m) = inverse_scale_[j] * jacobian_.col(j);
    }
    damped_.bottomRows(n).setZero();
    triangularise(m + n);
    // Differences know about ten digits of a column.
    const double least = F::has_jacobian
                             ? static_cast<double>(m + n) * kEpsilon
                             : std::max(1e-10, options.difference_step * options.difference_step);
    while (summary_.rank < n && std::abs(pivots_[summary_.rank]) > least) ++summary_.rank;
    if (summary_.rank < n) return;
    const double variance = noise_variance(options);
    if (!std::isfinite(variance)) return;

    // R^-1 column by column, then its product with its transpose, unscaled and in order.
    factor_.setZero();
    for (Index k = 0; k < n; ++k) {
      factor_(k, k) = 1 / pivots_[k];
      for (Index i = k - 1; i >= 0; --i) {
        double sum = 0;
        for (Index j = i + 1; j <= k; ++j) sum -= damped_(i, j) * factor_(j, k);
        factor_(i, k) = sum / pivots_[i];
      }
    }
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        double sum = 0;
        for (Index k = i; k < n; ++k) sum += factor_(i, k) * factor_(j, k);
        const Index a = order_[i], b = order_[j];
        covariance_(a, b) = covariance_(b, a) =
            variance * sum * inverse_scale_[a] * inverse_scale_[b];
      }
  }

  /// What the covariance is scaled by: `|r|^2 / (m - n)`; with a loss its like from psi (Huber,
  /// Robust Statistics, 7.6): `K^2 (sum psi^2 / (m - n)) / mean(psi')^2`.
  double noise_variance(const RefineOptions& options) const {
    const bool square = options.loss == RobustLoss::kNone;
    if (options.whitened && square) return 1;
    const auto m = static_cast<double>(r_.size()), n = static_cast<double>(delta_.size());
    if (m <= n) return kInfinity;
    if (square) return r_.squaredNorm() / (m - n);
    double psi2 = 0, mean = 0, mean2 = 0;
    for (Index i = 0; i < r_.size(); ++i) {
      const LossValue at = loss_value(options.loss, options.loss_scale, r_[i]);
      psi2 += at.weight * at.weight * r_[i] * r_[i];
      mean += at.curvature / m;
      mean2 += at.curvature * at.curvature / m;
    }
    if (!(mean > 0)) return kInfinity;
    const double k = 1 + n / m * (mean2 / (mean * mean) - 1);
    return k * k * psi2 / (m - n) / (mean * mean);
  }

  State x_, x_new_;
  Residuals r_, r_new_, weighted_;
  Delta delta_, scaled_, target_, gradient_, scale_, inverse_scale_, pivots_, difference_floor_;
  JacobianMatrix jacobian_;
  DeltaMatrix hessian_, factor_, covariance_;
  Eigen::Matrix<double, kRows, kColumns> damped_;
  Eigen::Array<Index, kDeltas, 1> order_;
  Eigen::Array<bool, kDeltas, 1> held_, stopped_;
  RefineSummary summary_;
  double cost_ = 0;
  double weakest_ = 0;  // least pivot of the last Cholesky, 0 where it failed
  bool weighted_residuals_ = false;
  bool blocked_ = false;  // a bound has shortened the step
};

/// For a single answer from x0; a Refiner is for many. Gives and throws what it does. Thread-safe
/// if the problem's functions are.
template <class R, class J, class S>
RefineResult refine(const RefineProblem<R, J, S>& problem, const Vector<double>& x0,
                    const RefineOptions& options = {}) {
  if (problem.residual_size < 1 || x0.size() < 1)
    throw Error("refine: " + std::to_string(problem.residual_size) + " residuals and " +
                std::to_string(x0.size()) + " unknowns, expected at least one of each");
  if (std::is_same_v<S, NoStep> != (problem.delta_size == 0))
    throw Error("refine: delta_size is " + std::to_string(problem.delta_size) +
                (problem.delta_size == 0 ? " with" : " without") +
                " a step function; they go together");
  RefineResult result{x0, {}, {}};
  Refiner<> refiner(x0.size(), problem.residual_size,
                    problem.delta_size > 0 ? problem.delta_size : x0.size());
  result.summary = refiner.refine(result.x, problem, options);
  if (options.covariance) result.covariance = refiner.covariance();
  return result;
}

}  // namespace sdm
