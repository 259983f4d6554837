#pragma once

#include <limits>
#include <vector>

#include "sdm/descent/cascade.h"
#include "sdm/descent/problem.h"
#include "sdm/descent/solve.h"

namespace sdm {

/// How a new sample counts: `Sigma <- forgetting * Sigma + weight * phi phi^T`.
struct OnlineOptions {
  /// w of the paper: 1 treats the sample like a training sample.
  double weight = 1;
  /// lambda of the paper: with n samples in order, sample i has the weight lambda^(n-i), and the
  /// training data and its penalty fade likewise. 1 forgets nothing. What new samples say nothing
  /// about is not forgotten without end, see OnlineCascade.
  double forgetting = 1;

  void validate() const;
};

/// What a stage remembers of its samples, in double precision whatever its maps are in:
/// `Sigma^-1 = (sum w phi phi^T + penalty)^-1`. With a bias phi is [f - mean; 1]: relative to the
/// mean no digits are lost to an offset of the features. Without one phi is f.
struct InverseCovariance {
  Matrix<double> matrix;
  Vector<double> mean;       // empty without a bias
  double weight = 0;         // of the samples of training, in sum; 0: not known
  Vector<double> reference;  // the diagonal as training left it; empty: that of `matrix`

  InverseCovariance() = default;
  /// From Sigma^-1 for phi = [f; 1] (`bias`) or phi = f. Throws Error if it is not positive
  /// definite.
  InverseCovariance(Matrix<double> sigma_inverse, bool bias);

  /// Sigma^-1 for phi = [f; 1], or f without a bias.
  Matrix<double> plain() const;

  friend bool operator==(const InverseCovariance&, const InverseCovariance&) = default;
};

/// A cascade that learns from new samples without its training data (section "Online SDM"):
/// recursive least squares on every stage.
///
/// After any sequence of updates the map of a stage is the ridge solution on the weighted union of
/// the training data and the new samples' (features, delta) pairs, up to rounding, which grows with
/// the number of updates (for maps trained whole: one of reduced rank is not the ridge solution to
/// begin with).
///
/// With forgetting there is one exception. Where the new samples leave some directions of the
/// features alone, plain forgetting would let the variance there grow without end, until one odd
/// sample rewrites the map. So no coefficient's variance may grow beyond a small multiple (2; more
/// where the memory of 1/(1 - lambda) samples is short for the number of features) of the larger of
/// what training left and what samples like those of training would sustain. An update that would
/// go beyond forgets along its own direction only.
template <class Scalar>
class OnlineCascade {
 public:
  /// The cascade and inverse covariances that `train` gives with keep_inverse_covariance. Low-rank
  /// maps become whole ones. Throws Error if an inverse covariance is missing or does not fit its
  /// map.
  OnlineCascade(Cascade<Scalar> cascade, std::vector<InverseCovariance> inverse_covariances);
  /// From Sigma^-1 for phi = [f; 1] (or f) of every stage. Throws Error also if one is not positive
  /// definite.
  OnlineCascade(Cascade<Scalar> cascade, std::vector<Matrix<double>> inverse_covariances);

  const Cascade<Scalar>& cascade() const { return cascade_; }
  /// Sigma^-1 of every stage, for phi = [f; 1], or f without a bias.
  std::vector<Matrix<double>> inverse_covariances() const;
  /// The same as it is kept: about the mean, with what training left.
  const std::vector<InverseCovariance>& memory() const { return inverse_; }

  /// Steps 1 and 2 of the paper for one stage: the pair (features, delta) that the stage should
  /// have known. A value of the delta that is NaN is not known: its row of the map stays as it is.
  /// Works in place, in O(size^2). Throws Error on features that are not finite and on an infinite
  /// delta; the stage is then as it was.
  void update_stage(int stage, ConstVectorRef<Scalar> features, ConstVectorRef<Scalar> delta,
                    const OnlineOptions& options = {}) {
    commit(stage, change(stage, features, delta, options));
  }

  /// All three steps: update a stage, move the sample by the updated map, go on with the next.
  /// Throws Error if the cascade does not fit the problem, x0 or the target, and on non-finite
  /// input; whatever throws, the cascade is then as it was.
  template <Problem P>
  void update(const P& problem, Index sample, const Vector<Scalar>& x0,
              const Vector<Scalar>& target, const OnlineOptions& options = {}) {
    check_fits(cascade_, problem, x0.size());
    if (target.size() != x0.size())
      throw Error("the target has " + std::to_string(target.size()) + " values, expected " +
                  std::to_string(x0.size()));
    Vector<Scalar> x = x0, delta(cascade_.delta_size());
    StageBuffers<Scalar> buffers(cascade_);
    std::vector<Change> changes = no_changes();
    for (int stage = 0; stage < cascade_.stages(); ++stage) {
      Change& own = changes[static_cast<std::size_t>(stage)];
      const ChangedMap map{cascade_.maps[static_cast<std::size_t>(stage)], own};
      // A stage learns before it moves the sample; what it learns is kept when all have.
      const bool finite = stage_update<Scalar>(
          map, stage, x, buffers,
          [&](int k, const auto& at, auto&& out) { problem.features(sample, k, at, out); },
          [&](int k, const auto& at, const auto& move, auto&& out) {
            sdm::step(problem, k, at, move, out);
          },
          [&](int k, const auto& at, const auto& features) {
            sdm::difference(problem, at, target, delta);
            keep_moved(problem, k, delta);
            own = change(k, features, delta, options);
          });
      if (!finite)
        throw Error("stage " + std::to_string(stage) + ": the sample's step is not finite");
    }
    for (int stage = 0; stage < cascade_.stages(); ++stage)
      commit(stage, changes[static_cast<std::size_t>(stage)]);
  }

  /// The whole state as a model of kind "online", and back; and as a file.
  io::Model to_model() const;
  static OnlineCascade from_model(const io::Model& model);
  void save(const std::filesystem::path& path) const;
  static OnlineCascade load(const std::filesystem::path& path);

 private:
  // What a stage does not move it need not know.
  template <Problem P>
  static void keep_moved(const P& problem, int stage, Vector<Scalar>& delta) {
    if constexpr (requires { problem.moved(stage); }) {
      const std::vector<Index> moved = problem.moved(stage);
      if (moved.empty()) return;
      Vector<Scalar> kept =
          Vector<Scalar>::Constant(delta.size(), std::numeric_limits<Scalar>::quiet_NaN());
      for (const Index value : moved) kept[value] = delta[value];
      delta = kept;
    }
  }

  // What an update will do to a stage.
  struct Change {
    OnlineOptions options;
    Vector<double> inverse_phi;  // Sigma^-1 phi
    double square = 0;           // phi^T Sigma^-1 phi
    double rounding = 0;         // of that square
    Vector<Scalar> missing;      // of the delta; 0 where it is not known
    Vector<Scalar> gain;         // w phi^T Sigma_new^-1, whichever way it is forgotten
    Scalar bias_gain = 0;

    double denominator() const { return options.forgetting / options.weight + square; }
  };
  // The map as it will be.
  struct ChangedMap {
    const DescentMap<Scalar>& map;
    const Change& change;

    Index feature_size() const { return map.feature_size(); }
    void apply(ConstVectorRef<Scalar> features, VectorRef<Scalar> scratch,
               VectorRef<Scalar> delta) const {
      map.apply(features, scratch, delta);
      delta += static_cast<Scalar>(change.square / change.denominator()) * change.missing;
    }
  };

  // One for each stage. Not inline: GCC 12 sees an overrun in a vector that it sees made.
  std::vector<Change> no_changes() const;
  Change change(int stage, ConstVectorRef<Scalar> features, ConstVectorRef<Scalar> delta,
                const OnlineOptions& options) const;
  void commit(int stage, const Change& change) noexcept;

  Cascade<Scalar> cascade_;
  std::vector<InverseCovariance> inverse_;  // the lower triangles are kept up to date
};

}  // namespace sdm
