#pragma once

#include <string>

#include "sdm/base/error.h"
#include "sdm/base/types.h"

namespace sdm {

/// Is this map a generic descent map here, and is it guaranteed to be one? Theorems 1 and 2 of the
/// paper (appendix), checked on samples of a neighbourhood of x*.
///
/// With dx = x* - x and dh = h(x*) - h(x) for every sample:
///   - K = max |dh| / |dx|, the Lipschitz constant anchored at x*;
///   - monotone: <dx, R dh> > 0 for every sample (condition 1);
///   - min_cosine: the least cos(theta) between dx and R dh;
///   - bound = (2/K) min_cosine: any R with |R|_F below it contracts (theorem 2). In one dimension
///     the cosine is 1 and the bound is 2/K (theorem 1). 0 where the monotone condition fails.
/// A sample is a finite witness: these are statements about the samples given, and about the
/// neighbourhood only as far as they fill it.
struct Certificate {
  Index samples = 0;
  double lipschitz = 0;
  bool monotone = false;
  double min_cosine = 0;
  double bound = 0;
  double map_norm = 0;      // |R|_F
  bool guaranteed = false;  // monotone and map_norm < bound
  double contraction = 0;   // c: the largest |x* - x_next| / |x* - x| over the samples
  double mean_contraction = 0;
  Index worst_sample = 0;  // the one with the largest contraction

  /// Below this factor, `factor * R` fulfils the theorem; 0 where the monotone condition fails.
  double safe_scale() const { return monotone && map_norm > 0 ? bound / map_norm : 0; }
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
