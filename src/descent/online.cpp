#include "sdm/descent/online.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "descent/map_tensors.h"
#include "sdm/base/error.h"

namespace sdm {
namespace {

constexpr double kLeastSquare = 1e-150;  // below it a division by it may overflow

// How far a coefficient's variance may grow beyond what training left. Samples like those of
// training sustain, with a memory of 1/(1 - lambda) samples, (1 - lambda) W / w times its variance,
// W being the weight of training. The shorter the memory for the number of coefficients, the more
// the variances swing about that.
double largest_growth(const InverseCovariance& inverse, const OnlineOptions& options) {
  const double fading = 1 - options.forgetting;
  const double unknowns_in_memory = static_cast<double>(inverse.matrix.rows()) * fading;
  return 2 * (1 + 100 * unknowns_in_memory * unknowns_in_memory) *
         std::max(1.0, fading * inverse.weight / options.weight);
}

// Sigma^-1 <- growth (Sigma^-1 - share u u^T), in one pass over the lower triangle.
void rank_one_update(Matrix<double>& lower, const Vector<double>& u, double share, double growth) {
  const Index n = lower.rows();
  for (Index j = 0; j < n; ++j) {
    auto column = lower.col(j).tail(n - j);
    column = growth * (column - (share * u[j]) * u.tail(n - j));
  }
}

}  // namespace

void OnlineOptions::validate() const {
  if (!(weight > 0) || !std::isfinite(weight))
    throw Error(formatted("the weight is {}, expected a finite number above 0", weight));
  if (!(forgetting > 0 && forgetting <= 1))
    throw Error(formatted("forgetting is {}, expected more than 0 and at most 1", forgetting));
}

// With phi' = [f - m; 1] = T phi the inverse is T^-T inverse T^-1. At the mean m the block of the
// features and that of the bias do not mix.
InverseCovariance::InverseCovariance(Matrix<double> sigma_inverse, bool bias)
    : matrix(std::move(sigma_inverse)) {
  const auto refuse = [] { throw Error("it is not positive definite"); };
  const Index size = matrix.rows(), features = size - (bias ? 1 : 0);
  if (!matrix.allFinite()) throw Error("a value is not finite");
  const Eigen::LLT<Matrix<double>> llt(matrix.topLeftCorner(features, features));
  if (llt.info() != Eigen::Success) refuse();
  if (bias) {
    const Vector<double> mixed = matrix.row(features).head(features);
    mean = -llt.solve(mixed);
    const double rest = matrix(features, features) + mixed.dot(mean);
    if (!(rest > 0) || !mean.allFinite()) refuse();
    matrix.row(features).setZero();
    matrix.col(features).setZero();
    matrix(features, features) = rest;
    weight = 1 / rest;
  }
}

Matrix<double> InverseCovariance::plain() const {
  Matrix<double> result = matrix.selfadjointView<Eigen::Lower>();
  if (mean.size() == 0) return result;
  const Index n = mean.size();
  const Vector<double> moved = result.topLeftCorner(n, n) * mean;
  result(n, n) += mean.dot(moved) - 2 * mean.dot(result.col(n).head(n));
  result.col(n).head(n) -= moved;
  result.row(n).head(n) = result.col(n).head(n).transpose();
  return result;
}

namespace {

std::vector<InverseCovariance> about_the_means(const std::vector<Matrix<double>>& inverse,
                                               const std::vector<Index>& features) {
  std::vector<InverseCovariance> result;
  for (std::size_t k = 0; k < inverse.size(); ++k) {
    const Index size = inverse[k].rows(), own = k < features.size() ? features[k] : size;
    if (inverse[k].cols() != size || (size != own && size != own + 1))
      throw Error(formatted("the inverse covariance of stage {} is {}x{}, expected {} or {}", k,
                            size, inverse[k].cols(), own, own + 1));
    try {
      result.emplace_back(inverse[k], size > own);
    } catch (const Error& e) {
      throw Error(formatted("the inverse covariance of stage {}: {}", k, e.what()));
    }
  }
  return result;
}

template <class Scalar>
std::vector<Index> feature_sizes(const Cascade<Scalar>& cascade) {
  std::vector<Index> sizes;
  for (const DescentMap<Scalar>& map : cascade.maps) sizes.push_back(map.feature_size());
  return sizes;
}

}  // namespace

template <class Scalar>
OnlineCascade<Scalar>::OnlineCascade(Cascade<Scalar> cascade,
                                     std::vector<Matrix<double>> inverse_covariances)
    : OnlineCascade(cascade, about_the_means(inverse_covariances, feature_sizes(cascade))) {}

template <class Scalar>
OnlineCascade<Scalar>::OnlineCascade(Cascade<Scalar> cascade,
                                     std::vector<InverseCovariance> inverse_covariances)
    : cascade_(std::move(cascade)), inverse_(std::move(inverse_covariances)) {
  if (inverse_.size() != cascade_.maps.size())
    throw Error(formatted(
        "{} inverse covariances for {} stages; train with keep_inverse_covariance to have them",
        inverse_.size(), cascade_.maps.size()));
  for (std::size_t k = 0; k < inverse_.size(); ++k) {
    DescentMap<Scalar>& map = cascade_.maps[k];
    InverseCovariance& own = inverse_[k];
    const Index size = own.matrix.rows(), features = map.feature_size();
    if (own.matrix.cols() != size || (size != features && size != features + 1))
      throw Error(formatted("the inverse covariance of stage {} is {}x{}, expected {} or {}", k,
                            size, own.matrix.cols(), features, features + 1));
    if (own.reference.size() == 0) own.reference = own.matrix.diagonal();
    if (own.mean.size() != (size > features ? features : 0) || own.reference.size() != size)
      throw Error(formatted(
          "the inverse covariance of stage {} has a mean of {} values and a "
          "reference of {}, expected {} and {}",
          k, own.mean.size(), own.reference.size(), size > features ? features : 0, size));
    if (!own.matrix.allFinite() || !own.mean.allFinite() || !own.reference.allFinite() ||
        !std::isfinite(own.weight) || own.matrix.diagonal().minCoeff() < 0)
      throw Error(formatted(
          "the inverse covariance of stage {} is not finite or has a negative variance", k));
    if (map.rank() > 0) map = DescentMap<Scalar>(map.matrix(), map.bias());
  }
}

template <class Scalar>
std::vector<Matrix<double>> OnlineCascade<Scalar>::inverse_covariances() const {
  std::vector<Matrix<double>> result;
  for (const InverseCovariance& inverse : inverse_) result.push_back(inverse.plain());
  return result;
}

template <class Scalar>
typename OnlineCascade<Scalar>::Change OnlineCascade<Scalar>::change(
    int stage, ConstVectorRef<Scalar> features, ConstVectorRef<Scalar> delta,
    const OnlineOptions& options) const {
  options.validate();
  if (stage < 0 || stage >= cascade_.stages())
    throw Error(formatted("stage {} of a cascade of {} stages", stage, cascade_.stages()));
  const DescentMap<Scalar>& map = cascade_.maps[static_cast<std::size_t>(stage)];
  if (features.size() != map.feature_size() || delta.size() != map.delta_size())
    throw Error(formatted("stage {}: {} features and a delta of {}, expected {} and {}", stage,
                          features.size(), delta.size(), map.feature_size(), map.delta_size()));
  if (!features.allFinite() || delta.array().isInf().any())
    throw Error(formatted("stage {}: the new sample is not finite", stage));

  const InverseCovariance& inverse = inverse_[static_cast<std::size_t>(stage)];
  Vector<double> phi(inverse.matrix.rows());
  phi.head(features.size()) = features.template cast<double>();
  if (inverse.mean.size() > 0) {
    phi.head(features.size()) -= inverse.mean;
    phi[features.size()] = 1;
  }
  Change result;
  result.options = options;
  result.inverse_phi.noalias() = inverse.matrix.selfadjointView<Eigen::Lower>() * phi;
  // The terms of the square are as large as this, whatever the units of the features.
  const double terms =
      std::pow(phi.cwiseAbs().dot(inverse.matrix.diagonal().cwiseMax(0).cwiseSqrt()), 2);
  result.rounding = 64 * std::numeric_limits<double>::epsilon() * terms;
  result.square = std::max(result.rounding, phi.dot(result.inverse_phi));
  // The paper's R_k maps phi to the delta; ours is subtracted: delta = b - R f.
  Vector<Scalar> scratch(0);
  result.missing.resize(delta.size());
  map.apply(features, scratch, result.missing);
  result.missing = delta - result.missing;
  for (Index i = 0; i < delta.size(); ++i)
    if (std::isnan(delta[i])) result.missing[i] = 0;
  const Vector<double> gain = result.inverse_phi / result.denominator();
  if (!std::isfinite(result.square) ||
      !std::isfinite(static_cast<Scalar>(gain.norm()) * result.missing.norm()))
    throw Error(formatted("stage {}: the new sample is too large for its numbers", stage));
  result.gain = gain.head(features.size()).template cast<Scalar>();
  if (inverse.mean.size() > 0)
    result.bias_gain =
        static_cast<Scalar>(gain[features.size()] - gain.head(features.size()).dot(inverse.mean));
  return result;
}

template <class Scalar>
std::vector<typename OnlineCascade<Scalar>::Change> OnlineCascade<Scalar>::no_changes() const {
  return std::vector<Change>(cascade_.maps.size());
}

template <class Scalar>
void OnlineCascade<Scalar>::commit(int stage, const Change& change) noexcept {
  InverseCovariance& inverse = inverse_[static_cast<std::size_t>(stage)];
  const Vector<double>& u = change.inverse_phi;
  const double lambda = change.options.forgetting, w = change.options.weight;

  // The paper's formula: forget everywhere, then learn.
  double share = 1 / change.denominator(), growth = 1 / lambda;
  if (lambda < 1) {
    const double limit = largest_growth(inverse, change.options);
    const auto winds_up = [&] {
      for (Index i = 0; i < u.size(); ++i)
        if (growth * (inverse.matrix(i, i) - share * u[i] * u[i]) > limit * inverse.reference[i])
          return true;
      return false;
    };
    if (winds_up()) {
      // Along phi the same variance, square / (lambda + w square); across it none is forgotten.
      const double r = change.square;
      growth = 1;
      share = r > kLeastSquare ? (lambda + w * r - 1) / (r * (lambda + w * r)) : 0;
      if (share < 0 && winds_up()) share = 0;
    }
  }
  // Where training left next to no information, one sample can bring more than the digits of
  // Sigma^-1 can tell apart. What would be left along phi then stays above their rounding.
  if (change.square > kLeastSquare)
    share = std::min(share, std::max(0.0, 1 - change.rounding / change.square) / change.square);
  if (((inverse.matrix.diagonal().array() - share * u.array().square()) < 0).any()) share = 0;
  rank_one_update(inverse.matrix, u, share, growth);

  cascade_.maps[static_cast<std::size_t>(stage)].learn(change.missing, change.gain,
                                                       change.bias_gain);
}

void put_inverse_covariance(io::Model& model, const std::string& prefix,
                            const InverseCovariance& inverse) {
  const Matrix<double> full = inverse.matrix.selfadjointView<Eigen::Lower>();
  model.put(prefix + "inverse_covariance", io::to_tensor(full));
  model.put(prefix + "mean", io::to_tensor(inverse.mean));
  model.put(prefix + "weight",
            io::to_tensor(Vector<double>(Vector<double>::Constant(1, inverse.weight))));
  model.put(prefix + "reference", io::to_tensor(inverse.reference));
}

InverseCovariance get_inverse_covariance(const io::Model& model, const std::string& prefix,
                                         Index features) {
  Matrix<double> matrix = model.matrix<double>(prefix + "inverse_covariance");
  const Index size = matrix.rows();
  if (matrix.cols() != size || (size != features && size != features + 1))
    throw Error(formatted("{}inverse_covariance is {}x{}, expected {} or {}", prefix, size,
                          matrix.cols(), features, features + 1));
  // A file of an older version: phi is not relative to a mean.
  if (!model.tensors.contains(prefix + "mean")) {
    try {
      return {std::move(matrix), size > features};
    } catch (const Error& e) {
      throw Error(formatted("{}inverse_covariance: {}", prefix, e.what()));
    }
  }
  InverseCovariance inverse;
  inverse.matrix = std::move(matrix);
  inverse.mean = model.vector<double>(prefix + "mean", size > features ? features : 0);
  inverse.weight = model.vector<double>(prefix + "weight", 1)[0];
  inverse.reference = model.vector<double>(prefix + "reference");
  return inverse;
}

template <class Scalar>
io::Model OnlineCascade<Scalar>::to_model() const {
  io::Model model = cascade_.to_model();
  model.kind = "online";
  for (std::size_t k = 0; k < inverse_.size(); ++k)
    put_inverse_covariance(model, formatted("stage{}.", k), inverse_[k]);
  return model;
}

template <class Scalar>
OnlineCascade<Scalar> OnlineCascade<Scalar>::from_model(const io::Model& model) {
  model.require_kind("online");
  io::Model maps = model;
  maps.kind = "cascade";
  Cascade<Scalar> cascade = Cascade<Scalar>::from_model(maps);
  std::vector<InverseCovariance> inverse;
  for (int k = 0; k < cascade.stages(); ++k)
    inverse.push_back(get_inverse_covariance(
        model, formatted("stage{}.", k), cascade.maps[static_cast<std::size_t>(k)].feature_size()));
  return {std::move(cascade), std::move(inverse)};
}

template class OnlineCascade<float>;
template class OnlineCascade<double>;

}  // namespace sdm
