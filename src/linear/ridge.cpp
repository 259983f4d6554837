#include "sdm/linear/ridge.h"

#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "linear/blas.h"
#include "sdm/base/error.h"

namespace sdm::linear {
namespace {

// C - (sum w f)(sum w t)^T / sum w.
template <class Scalar>
Matrix<Scalar> centred_cross(const NormalEquations<Scalar>& equations, bool centred) {
  if (!centred) return equations.cross;
  return equations.cross -
         equations.feature_sum * (equations.target_sum / equations.weight_sum).transpose();
}

// Rounding turns the zero pivot of a singular system into a tiny one of either sign. Gives the
// first row whose pivot is no more than that noise, or -1.
template <class Scalar>
Index vanishing_pivot(const Vector<Scalar>& factor_diagonal,
                      const NormalEquations<Scalar>& equations) {
  const Vector<Scalar> diagonal = equations.gram.diagonal();
  const Scalar noise = 8 * std::numeric_limits<Scalar>::epsilon() *
                       std::sqrt(static_cast<Scalar>(equations.features()));
  for (Index i = 0; i < diagonal.size(); ++i)
    if (factor_diagonal[i] * factor_diagonal[i] <= noise * diagonal[i]) return i;
  return -1;
}

// Why the system could not be solved at this feature, and what helps.
template <class Scalar>
std::string singular(const NormalEquations<Scalar>& equations, Index feature, double lambda,
                     bool centred) {
  constexpr auto kEpsilon = static_cast<double>(std::numeric_limits<Scalar>::epsilon());
  const char* precision = sizeof(Scalar) == 4 ? "single" : "double";
  const auto square = static_cast<double>(equations.gram.diagonal()[feature]);
  double variation = square;
  if (centred)
    variation -= std::pow(static_cast<double>(equations.feature_sum[feature]), 2) /
                 static_cast<double>(equations.weight_sum);
  const double rounding = kEpsilon * equations.energy(centred);
  std::string text = formatted("the normal equations are singular at feature {}: ", feature);
  if (!(variation > 128 * kEpsilon * square))
    text += "it never varies";
  else
    text += formatted("other features determine it, as far as {} precision can tell", precision);
  if (lambda == 0) return text + ", and there is no penalty; give one or keep fewer components";
  return text + formatted(
                    ", and the penalty {:.3g} is lost in the rounding of {} precision, about "
                    "{:.3g}; give a larger penalty or keep fewer components",
                    lambda, precision, rounding);
}

}  // namespace

template <class Scalar>
LinearPredictor<Scalar> ridge(const NormalEquations<Scalar>& equations, double lambda, bool centred,
                              ThreadPool& pool) {
  const blas::SingleThreaded single_threaded;
  if (!(equations.weight_sum > 0))
    throw Error(formatted("the samples' weights sum to {}, expected a positive number",
                          equations.weight_sum));
  LinearPredictor<Scalar> result;
  result.feature_mean = Vector<Scalar>::Zero(equations.features());
  result.target_mean = Vector<Scalar>::Zero(equations.targets());
  if (centred) {
    result.feature_mean = equations.feature_sum / equations.weight_sum;
    result.target_mean = equations.target_sum / equations.weight_sum;
  }
  result.weights = centred_cross(equations, centred);

  SymmetricTiles<Scalar> system = equations.gram;
  if (centred) system.add_outer(-equations.weight_sum, result.feature_mean);
  system.add_to_diagonal(static_cast<Scalar>(lambda));
  Index bad = system.factorise(pool);
  if (bad < 0 && lambda == 0) bad = vanishing_pivot<Scalar>(system.diagonal(), equations);
  if (bad >= 0) {
    const Scalar pivot = equations.gram.diagonal()[bad];
    if (!std::isfinite(pivot))
      throw Error(formatted("feature {} makes the normal equations infinite or NaN", bad));
    throw Error(singular(equations, bad, lambda, centred));
  }
  system.solve(result.weights, pool);
  if (!result.weights.allFinite())
    throw Error(
        formatted("the solution of the normal equations is not finite with penalty {}", lambda));
  return result;
}

template <class Scalar>
Matrix<double> residual_gram(const NormalEquations<Scalar>& equations,
                             const LinearPredictor<Scalar>& predictor, ThreadPool& pool) {
  const blas::SingleThreaded single_threaded;
  const Matrix<Scalar>& b = predictor.weights;
  const Vector<double> c =
      (predictor.target_mean - b.transpose() * predictor.feature_mean).template cast<double>();
  const Matrix<double> cross = (b.transpose() * equations.cross).template cast<double>();
  const Matrix<double> predicted =
      (b.transpose() * equations.gram.multiply(b, pool)).template cast<double>();
  const Vector<double> rest =
      (equations.target_sum - b.transpose() * equations.feature_sum).template cast<double>();
  return equations.target_gram.template cast<double>() - cross - cross.transpose() + predicted +
         static_cast<double>(equations.weight_sum) * c * c.transpose() - c * rest.transpose() -
         rest * c.transpose();
}

template <class Scalar>
TargetDirections<Scalar> target_directions(const NormalEquations<Scalar>& equations,
                                           const LinearPredictor<Scalar>& predictor, bool centred) {
  // weights^T (Gram + lambda) weights = weights^T Cross: reduced-rank regression in the metric of
  // the penalised fit.
  Matrix<Scalar> explained = predictor.weights.transpose() * centred_cross(equations, centred);
  explained = (explained + explained.transpose().eval()) / Scalar(2);
  Vector<Scalar> values;
  blas::eigen_symmetric(explained, values);
  return {explained.rowwise().reverse(), values.reverse()};
}

#define SDM_INSTANTIATE(Scalar)                                                        \
  template LinearPredictor<Scalar> ridge(const NormalEquations<Scalar>&, double, bool, \
                                         ThreadPool&);                                 \
  template Matrix<double> residual_gram(const NormalEquations<Scalar>&,                \
                                        const LinearPredictor<Scalar>&, ThreadPool&);  \
  template TargetDirections<Scalar> target_directions(const NormalEquations<Scalar>&,  \
                                                      const LinearPredictor<Scalar>&, bool);
SDM_INSTANTIATE(float)
SDM_INSTANTIATE(double)
#undef SDM_INSTANTIATE

}  // namespace sdm::linear
