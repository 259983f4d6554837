#pragma once

#include "sdm/linear/normal_equations.h"

namespace sdm::linear {

/// A linear predictor `t = target_mean + weights^T (f - feature_mean)`.
template <class Scalar>
struct LinearPredictor {
  Matrix<Scalar> weights;  // features x targets
  Vector<Scalar> feature_mean, target_mean;
};

/// Ridge regression from the normal equations: the minimiser of
/// `sum w |t - t_hat|^2 + lambda |weights|^2`. When `centred`, means are fitted too and not
/// penalised; otherwise they are zero.
/// Throws Error if the system is singular or holds a NaN or an infinity.
template <class Scalar>
LinearPredictor<Scalar> ridge(const NormalEquations<Scalar>& equations, double lambda, bool centred,
                              ThreadPool& pool);

/// Sum of w (t - t_hat)(t - t_hat)^T over the samples behind the equations, which may be others
/// than those the predictor was fitted to: held-out error without any sample at hand.
template <class Scalar>
Matrix<double> residual_gram(const NormalEquations<Scalar>& equations,
                             const LinearPredictor<Scalar>& predictor, ThreadPool& pool);

/// Target directions in order of how much of the targets' variance the predictor explains along
/// them: the predictor of rank r that loses least is `weights * U_r * U_r^T`, with U_r the first r
/// columns. `gain` is what each direction explains.
template <class Scalar>
struct TargetDirections {
  Matrix<Scalar> directions;  // orthonormal columns
  Vector<Scalar> gain;
};
template <class Scalar>
TargetDirections<Scalar> target_directions(const NormalEquations<Scalar>& equations,
                                           const LinearPredictor<Scalar>& predictor, bool centred);

}  // namespace sdm::linear
