#include "sdm/face/train/adaptation_learner.h"

#include <Eigen/Cholesky>

#include "base/formatted.h"
#include "face/shape_descent.h"
#include "face/starts.h"
#include "face/train/robust.h"
#include "sdm/base/error.h"

namespace sdm::face {

void AdaptationOptions::validate() const {
  if (starts < 1 || starts > 1000)
    throw Error(formatted("{} starts of each face, expected 1 to 1000", starts));
  if (!(robust >= 0)) throw Error(formatted("the robust error is {}, expected 0 or more", robust));
}

struct AdaptationLearner::State {
  State(const Model& m, const AdaptationOptions& o) : model(m), options(o), descent(m) {
    for (const CompactMap& map : m.maps)
      sums.push_back(Matrix<double>::Zero(map.rank() + 1, map.rank() + 1));
  }

  const Model& model;
  AdaptationOptions options;
  ShapeDescent descent;
  std::vector<Matrix<double>> sums;
  Index faces = 0;
};

AdaptationLearner::AdaptationLearner(const Model& model, const AdaptationOptions& options) {
  model.validate();
  options.validate();
  if (model.base)
    throw Error("a model on a base cannot be adapted: adapt the base and train on that one");
  state_ = std::make_unique<State>(model, options);
}
AdaptationLearner::~AdaptationLearner() = default;

void AdaptationLearner::add(image::ByteView grey, const Shape& truth) {
  State& s = *state_;
  check_labelled_face(s.model, grey, truth);
  Random random(s.options.seed, "adaptation starts", static_cast<std::uint64_t>(s.faces));
  const Shape none = Shape::Zero(2, truth.cols());
  Shape missing = none;
  const auto learn = [&](int stage, const auto& state, const auto& z) {
    Eigen::Map<Vector<float>> delta(missing.data(), missing.size());
    shape_difference(state, truth, delta);
    const double weight = robust_weight(mean_distance(none, missing), s.options.robust);
    const CompactMap& map = s.model.maps[static_cast<std::size_t>(stage)];
    Matrix<double>& sum = s.sums[static_cast<std::size_t>(stage)];
    Vector<double> phi(z.size() + 1);
    phi << z.template cast<double>(), 1;
    sum += weight * phi * phi.transpose();
    if (s.model.mirror.empty()) return;
    phi.segment(map.even, map.rank() - map.even) *= -1;
    sum += weight * phi * phi.transpose();
  };
  for (int number = 0; number < s.options.starts; ++number)
    s.descent.run(grey, labelled_start(number, truth, s.model, random), 0, learn);
  ++s.faces;
}

Adaptation AdaptationLearner::finish() const {
  if (state_->faces == 0)
    throw Error("there are no faces to learn the adaptation state from, expected at least one");
  Adaptation result;
  result.fingerprint = face::fingerprint(state_->model);
  result.name = state_->model.name;
  result.provenance = state_->model.provenance;
  result.licence = state_->model.licence;
  for (Matrix<double> sum : state_->sums) {
    // Directions that no face showed must have an inverse too.
    const Index rank = sum.rows() - 1;
    sum.diagonal().array() += 1e-6 * sum.diagonal().head(rank).mean() + 1e-12;
    const Matrix<double> inverse = sum.llt().solve(Matrix<double>::Identity(rank + 1, rank + 1));
    result.inverse_covariances.push_back((inverse + inverse.transpose()) / 2);
  }
  return result;
}

}  // namespace sdm::face
