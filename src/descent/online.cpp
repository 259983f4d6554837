#include "sdm/descent/online.h"

#include <cmath>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm {

void OnlineOptions::validate() const {
  if (!(weight > 0) || !std::isfinite(weight))
    throw Error(formatted("the weight is {}, expected a finite number above 0", weight));
  if (!(forgetting > 0 && forgetting <= 1))
    throw Error(formatted("forgetting is {}, expected more than 0 and at most 1", forgetting));
}

template <class Scalar>
OnlineCascade<Scalar>::OnlineCascade(Cascade<Scalar> cascade,
                                     std::vector<Matrix<Scalar>> inverse_covariances)
    : cascade_(std::move(cascade)), inverse_(std::move(inverse_covariances)) {
  if (inverse_.size() != cascade_.maps.size())
    throw Error(formatted(
        "{} inverse covariances for {} stages; train with keep_inverse_covariance to have them",
        inverse_.size(), cascade_.maps.size()));
  for (std::size_t k = 0; k < inverse_.size(); ++k) {
    DescentMap<Scalar>& map = cascade_.maps[k];
    const Index size = inverse_[k].rows(), features = map.feature_size();
    if (inverse_[k].cols() != size || (size != features && size != features + 1))
      throw Error(formatted("the inverse covariance of stage {} is {}x{}, expected {} or {}", k,
                            size, inverse_[k].cols(), features, features + 1));
    if (map.rank() > 0) map = DescentMap<Scalar>(map.matrix(), map.bias());
  }
}

template <class Scalar>
void OnlineCascade<Scalar>::update_stage(int stage, ConstVectorRef<Scalar> features,
                                         ConstVectorRef<Scalar> delta,
                                         const OnlineOptions& options) {
  options.validate();
  if (stage < 0 || stage >= cascade_.stages())
    throw Error(formatted("stage {} of a cascade of {} stages", stage, cascade_.stages()));
  DescentMap<Scalar>& map = cascade_.maps[static_cast<std::size_t>(stage)];
  if (features.size() != map.feature_size() || delta.size() != map.delta_size())
    throw Error(formatted("stage {}: {} features and a delta of {}, expected {} and {}", stage,
                          features.size(), delta.size(), map.feature_size(), map.delta_size()));
  if (!features.allFinite() || delta.array().isInf().any())
    throw Error(formatted("stage {}: the new sample is not finite", stage));

  Matrix<Scalar>& inverse = inverse_[static_cast<std::size_t>(stage)];
  const bool bias = inverse.rows() > features.size();
  Vector<Scalar> phi(inverse.rows());
  phi.head(features.size()) = features;
  if (bias) phi[features.size()] = 1;

  const auto w = static_cast<Scalar>(options.weight),
             lambda = static_cast<Scalar>(options.forgetting);
  const Vector<Scalar> inverse_phi = inverse * phi;
  const Scalar denominator = lambda / w + phi.dot(inverse_phi);
  inverse.noalias() -= inverse_phi * (inverse_phi / denominator).transpose();
  inverse /= lambda;
  inverse =
      ((inverse + inverse.transpose().eval()) / Scalar(2)).eval();  // rounding must not build up

  // The paper's R_k maps phi to the delta; ours is subtracted: delta = b - R f.
  Vector<Scalar> missing = delta - (map.bias() - map.matrix() * features);
  missing = missing.array().isNaN().select(Scalar(0), missing);
  // w phi^T Sigma_new^-1 = (inverse_phi / denominator)^T.
  const Matrix<Scalar> change = missing * (inverse_phi / denominator).transpose();
  Matrix<Scalar> r = map.matrix() - change.leftCols(features.size());
  Vector<Scalar> b = map.bias();
  if (bias) b += change.col(features.size());
  map = DescentMap<Scalar>(std::move(r), std::move(b));
}

template <class Scalar>
io::Model OnlineCascade<Scalar>::to_model() const {
  io::Model model = cascade_.to_model();
  model.kind = "online";
  for (std::size_t k = 0; k < inverse_.size(); ++k)
    model.put(formatted("stage{}.inverse_covariance", k), io::to_tensor(inverse_[k]));
  return model;
}

template <class Scalar>
OnlineCascade<Scalar> OnlineCascade<Scalar>::from_model(const io::Model& model) {
  model.require_kind("online");
  io::Model maps = model;
  maps.kind = "cascade";
  Cascade<Scalar> cascade = Cascade<Scalar>::from_model(maps);
  std::vector<Matrix<Scalar>> inverse;
  for (int k = 0; k < cascade.stages(); ++k)
    inverse.push_back(model.matrix<Scalar>(formatted("stage{}.inverse_covariance", k)));
  return {std::move(cascade), std::move(inverse)};
}

template class OnlineCascade<float>;
template class OnlineCascade<double>;

}  // namespace sdm
