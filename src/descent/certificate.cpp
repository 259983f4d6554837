#include "sdm/descent/certificate.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "base/formatted.h"

namespace sdm {
namespace {

double spectral_norm(const Matrix<double>& r) {
  const Matrix<double> gram =
      r.rows() <= r.cols() ? Matrix<double>(r * r.transpose()) : Matrix<double>(r.transpose() * r);
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> solver(gram, Eigen::EigenvaluesOnly);
  return gram.rows() == 0 ? 0 : std::sqrt(std::max(0.0, solver.eigenvalues().maxCoeff()));
}

}  // namespace

Certificate certify(const Matrix<double>& r, const Matrix<double>& state_deltas,
                    const Matrix<double>& feature_deltas) {
  if (state_deltas.cols() != feature_deltas.cols())
    throw Error(formatted("{} state deltas but {} feature deltas", state_deltas.cols(),
                          feature_deltas.cols()));
  if (r.rows() != state_deltas.rows() || r.cols() != feature_deltas.rows())
    throw Error(formatted("the map is {}x{}, expected {}x{} (state x features)", r.rows(), r.cols(),
                          state_deltas.rows(), feature_deltas.rows()));
  if (!r.allFinite() || !state_deltas.allFinite() || !feature_deltas.allFinite())
    throw Error("the map or a sample of the certificate is not finite");

  Certificate result;
  result.map_norm = r.norm();
  result.spectral_norm = spectral_norm(r);
  result.monotone = true;
  result.min_cosine = 1;
  for (Index i = 0; i < state_deltas.cols(); ++i) {
    const Vector<double> dx = state_deltas.col(i), dh = feature_deltas.col(i), step = r * dh;
    const double size = dx.norm();
    if (size == 0) continue;
    ++result.samples;
    result.lipschitz = std::max(result.lipschitz, dh.norm() / size);
    const double inner = dx.dot(step);
    if (!(inner > 0)) result.monotone = false;
    const double cosine = step.norm() > 0 ? inner / (size * step.norm()) : 0;
    result.min_cosine = std::min(result.min_cosine, cosine);
    const double ratio = (dx - step).norm() / size;
    result.mean_contraction += ratio;
    if (ratio > result.contraction) {
      result.contraction = ratio;
      result.worst_sample = i;
    }
  }
  if (result.samples == 0)
    throw Error("the certificate has no sample away from x*, expected at least one");
  result.mean_contraction /= static_cast<double>(result.samples);
  if (result.monotone && result.lipschitz > 0)
    result.bound = 2 / result.lipschitz * result.min_cosine;
  result.guaranteed = result.monotone && result.spectral_norm < result.bound;
  return result;
}

std::string Certificate::brief_report() const {
  return formatted(
      "K = {:.6g}, {}, min cos = {:.4g}, |R|_2 = {:.6g} (Frobenius {:.6g}) against the bound "
      "{:.6g}: {}; contraction {:.4g} (mean {:.4g}) on {} samples",
      lipschitz, monotone ? "monotone" : "not monotone", min_cosine, spectral_norm, map_norm, bound,
      guaranteed ? "one step brings each sample closer" : "not certified", contraction,
      mean_contraction, samples);
}

std::size_t conformal_rank(std::size_t n, double confidence) {
  if (!(confidence > 0 && confidence < 1))
    throw Error(formatted("the confidence is {}, expected between 0 and 1", confidence));
  // (n + 1) confidence may be a whole number but for its rounding.
  const double rank = std::ceil(static_cast<double>(n + 1) * confidence * (1 - 1e-12));
  return static_cast<std::size_t>(std::max(rank, 1.0));
}

double conformal_quantile(std::vector<double> scores, double confidence) {
  const std::size_t rank = conformal_rank(scores.size(), confidence);
  if (rank > scores.size()) return std::numeric_limits<double>::infinity();
  for (double& score : scores)
    if (std::isnan(score)) score = std::numeric_limits<double>::infinity();
  const auto nth = scores.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::nth_element(scores.begin(), nth, scores.end());
  return *nth;
}

double detail::generic_map_1d(const Vector<double>& state_deltas,
                              const Vector<double>& feature_deltas, double epsilon) {
  double sign = 0, lipschitz = 0;
  for (Index i = 0; i < state_deltas.size(); ++i) {
    if (state_deltas[i] == 0) continue;
    const double slope = feature_deltas[i] / state_deltas[i];
    const double slope_sign = slope > 0 ? 1 : (slope < 0 ? -1 : 0);
    if (slope_sign == 0 || (sign != 0 && slope_sign != sign))
      throw Error(formatted("h is not strictly monotone around x*: sample {} breaks it", i));
    sign = slope_sign;
    lipschitz = std::max(lipschitz, std::abs(slope));
  }
  if (sign == 0) throw Error("no sample away from x*, expected at least one");
  if (!std::isfinite(lipschitz)) throw Error("h is not Lipschitz around x*: a slope is not finite");
  if (!(epsilon > 0) || epsilon >= 2 / lipschitz)
    throw Error(formatted("epsilon is {}, expected more than 0 and less than 2/K = {}", epsilon,
                          2 / lipschitz));
  return sign * (2 / lipschitz - epsilon);
}

}  // namespace sdm
