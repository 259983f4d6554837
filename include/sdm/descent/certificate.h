#pragma once

#include <limits>
#include <string>
#include <vector>

#include "sdm/base/error.h"
#include "sdm/base/types.h"
#include "sdm/descent/solve.h"

namespace sdm {

/// Does one step of this map bring every sample closer to x*? Theorems 1 and 2 of the paper
/// (appendix), checked on samples of a neighbourhood of x*.
///
/// With dx = x* - x and dh = h(x*) - h(x) for every sample:
///   - K = max |dh| / |dx|, the Lipschitz constant anchored at x*;
///   - monotone: <dx, R dh> > 0 for every sample (condition 1);
///   - min_cosine: the least cos(theta) between dx and R dh;
///   - bound = (2/K) min_cosine: any R of these cosines whose norm is below it brings every sample
///     closer (theorem 2). In one dimension the cosine is 1 and the bound is 2/K (theorem 1). 0
///     where the monotone condition fails. The paper takes the Frobenius norm; its proof needs only
///     |R dh| <= |R| |dh|, so the spectral norm will do, which is never larger.
///
/// What it proves: one step brings each sample given closer to x*. It says nothing of points
/// between them, and nothing of repeating the map, which leads from the samples to points that are
/// none. For how far the answers of a cascade can be trusted see `conformal_radius`.
struct Certificate {
  Index samples = 0;
  double lipschitz = 0;
  bool monotone = false;
  double min_cosine = 0;
  double bound = 0;
  double map_norm = 0;       // |R|_F, the paper's
  double spectral_norm = 0;  // |R|_2
  bool guaranteed = false;   // monotone and spectral_norm < bound: a step brings all samples closer
  double contraction = 0;    // c: the largest |x* - x_next| / |x* - x| over the samples
  double mean_contraction = 0;
  Index worst_sample = 0;  // the one with the largest contraction

  /// Below this factor, `factor * R` fulfils the theorem; 0 where the monotone condition fails.
  double safe_scale() const { return monotone && spectral_norm > 0 ? bound / spectral_norm : 0; }
  std::string brief_report() const;
};

/// From the deltas themselves: column i of `state_deltas` is x* - x_i, of `feature_deltas`
/// h(x*) - h(x_i). Samples with x_i = x* are left out.
/// Throws Error on mismatched or non-finite input and when no sample is left.
Certificate certify(const Matrix<double>& r, const Matrix<double>& state_deltas,
                    const Matrix<double>& feature_deltas);

/// From a function `h(x, out)` and samples of the neighbourhood (columns). Throws Error as above.
template <class H>
Certificate certify(const Matrix<double>& r, const H& h, const Vector<double>& x_star,
                    const Matrix<double>& samples) {
  if (samples.rows() != x_star.size())
    throw Error("the samples have " + std::to_string(samples.rows()) + " rows, x* has " +
                std::to_string(x_star.size()) + " values");
  Vector<double> at_star(r.cols()), at_sample(r.cols());
  h(x_star, at_star);
  Matrix<double> dx(x_star.size(), samples.cols()), dh(r.cols(), samples.cols());
  for (Index i = 0; i < samples.cols(); ++i) {
    const Vector<double> x = samples.col(i);
    h(x, at_sample);
    dx.col(i) = x_star - x;
    dh.col(i) = at_star - at_sample;
  }
  return certify(r, dx, dh);
}

/// The ceil((n + 1) confidence)-th smallest of n scores: a new score that is exchangeable with them
/// is no larger with at least this probability (split conformal prediction). Infinite where n is
/// too small to say: 99 % needs 99 scores. A score that is NaN counts as infinite. Throws Error
/// unless 0 < confidence < 1.
double conformal_quantile(std::vector<double> scores, double confidence);
/// That number, ceil((n + 1) confidence), counted from 1; above n where n is too small.
std::size_t conformal_rank(std::size_t n, double confidence);

/// How far an answer of the cascade is from the truth, at this confidence and in the unit of the
/// problem's `error`: the conformal quantile of the errors on the problem's samples. For any
/// cascade: with biases, with states on a manifold, of one stage or many.
///
/// It holds for a new sample that is exchangeable with those given: drawn in the same way, with the
/// same noise, started in the same way. Nothing is assumed of h, of the maps or of the
/// distribution. The samples must be held out: training must not have seen them, nor may they have
/// chosen the cascade. The probability is over these samples and the new one together; with n of
/// them the share of new samples within the radius is the confidence up to about sqrt(c (1 - c) /
/// n).
///
/// Needs `starts` and `targets` with a column for each sample, or one for all. An answer that is
/// not finite counts as infinitely far. Throws Error on sizes that do not fit.
template <Problem P>
double conformal_radius(const Cascade<typename P::Scalar>& cascade, const P& problem,
                        const Matrix<typename P::Scalar>& starts,
                        const Matrix<typename P::Scalar>& targets, double confidence) {
  using Scalar = typename P::Scalar;
  const Index n = problem.samples();
  check_fits(cascade, problem, starts.rows());
  if (targets.rows() != starts.rows())
    throw Error("the targets have " + std::to_string(targets.rows()) + " rows, expected " +
                std::to_string(starts.rows()));
  for (const Index columns : {starts.cols(), targets.cols()})
    if (columns != n && columns != 1)
      throw Error(std::to_string(columns) + " starts or targets for " + std::to_string(n) +
                  " samples, expected one or one for each");
  std::vector<double> scores;
  Solver<Scalar> solver(cascade);
  Vector<Scalar> x(starts.rows()), delta(delta_size(problem));
  for (Index i = 0; i < n; ++i) {
    x = starts.col(starts.cols() == 1 ? 0 : i);
    double score = std::numeric_limits<double>::infinity();
    if (solver.solve(problem, i, x).finite) {
      difference(problem, x, targets.col(targets.cols() == 1 ? 0 : i), delta);
      if constexpr (requires { problem.error(i, delta); })
        score = problem.error(i, delta);
      else
        score = static_cast<double>(delta.norm());
    }
    scores.push_back(score);
  }
  return conformal_quantile(std::move(scores), confidence);
}

/// The generic map of theorem 1 for a function of one variable: `sign(h') (2/K - epsilon)`, with K
/// measured on the samples.
/// Throws Error if h is not strictly monotone around x* on them, or if epsilon is not in (0, 2/K).
template <class H>
double generic_map_1d(const H& h, double x_star, const Vector<double>& samples, double epsilon);

namespace detail {
double generic_map_1d(const Vector<double>& state_deltas, const Vector<double>& feature_deltas,
                      double epsilon);
}

template <class H>
double generic_map_1d(const H& h, double x_star, const Vector<double>& samples, double epsilon) {
  const double at_star = h(x_star);
  Vector<double> dh(samples.size());
  for (Index i = 0; i < samples.size(); ++i) dh[i] = at_star - h(samples[i]);
  return detail::generic_map_1d(x_star - samples.array(), dh, epsilon);
}

}  // namespace sdm
