#pragma once

#include <vector>

#include "sdm/descent/train/train.h"
#include "tests/linear/random.h"

namespace sdm {

/// A smooth function from `states` to `features` numbers that is far from linear:
/// h(x) = tanh(A x + c) + 0.3 B x.
template <class Scalar_>
struct Tanh {
  using Scalar = Scalar_;
  Matrix<Scalar> a, b;
  Vector<Scalar> c;

  Tanh(Index states, Index features, unsigned seed)
      : a(random_matrix<Scalar>(features, states, seed)),
        b(random_matrix<Scalar>(features, states, seed + 1)),
        c(random_vector<Scalar>(features, seed + 2)) {}

  Vector<Scalar> operator()(ConstVectorRef<Scalar> x) const {
    return ((a * x + c).array().tanh()).matrix() + Scalar(0.3) * (b * x);
  }
};

/// Samples of the function above, template known (one for each target) or not, with the optional
/// members of a problem as data.
template <class Scalar_>
struct TanhProblem {
  using Scalar = Scalar_;
  Tanh<Scalar> h;
  Matrix<Scalar> starts, targets, templates;
  bool known;
  std::vector<Index> groups;    // empty: every sample its own
  std::vector<double> weights;  // empty: 1

  TanhProblem(Index states, Index features, Index samples, bool template_known, unsigned seed)
      : h(states, features, seed),
        starts(random_matrix<Scalar>(states, samples, seed + 3)),
        targets(random_matrix<Scalar>(states, samples, seed + 4)),
        templates(features, samples),
        known(template_known) {
    if (!known) targets *= Scalar(0.2);  // h(x) alone can then say little about the target
    for (Index i = 0; i < samples; ++i) templates.col(i) = h(targets.col(i));
  }

  Index samples() const { return starts.cols(); }
  Index state_size() const { return starts.rows(); }
  Index feature_size(int) const { return templates.rows(); }
  bool template_known() const { return known; }
  void features(Index sample, int, ConstVectorRef<Scalar> x, VectorRef<Scalar> out) const {
    out = h(x);
    if (known) out -= templates.col(sample);
  }
  Index group(Index i) const { return groups.empty() ? i : groups[static_cast<std::size_t>(i)]; }
  double weight(Index i) const {
    return weights.empty() ? 1 : weights[static_cast<std::size_t>(i)];
  }

  TrainResult<Scalar> train(const TrainOptions& options, const TrainObserver& observer = {}) const {
    return sdm::train(*this, starts, targets, options, observer);
  }
};

template <class Scalar>
bool same_bits(const Cascade<Scalar>& a, const Cascade<Scalar>& b) {
  if (a.stages() != b.stages()) return false;
  for (std::size_t k = 0; k < a.maps.size(); ++k)
    if (a.maps[k].left() != b.maps[k].left() || a.maps[k].right() != b.maps[k].right() ||
        a.maps[k].bias() != b.maps[k].bias())
      return false;
  return true;
}

}  // namespace sdm
