#pragma once

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
  /// training data and its penalty fade likewise. 1 forgets nothing.
  double forgetting = 1;

  void validate() const;
};

/// A cascade that learns from new samples without its training data (section "Online SDM"):
/// recursive least squares on every stage.
///
/// After any sequence of updates the map of a stage is the ridge solution on the weighted union of
/// the training data and the new samples' (features, delta) pairs, up to rounding (for maps trained
/// whole: one of reduced rank is not the ridge solution to begin with).
template <class Scalar>
class OnlineCascade {
 public:
  /// The cascade and inverse covariances that `train` gives with keep_inverse_covariance. Low-rank
  /// maps become whole ones. Throws Error if an inverse covariance is missing or does not fit its
  /// map.
  OnlineCascade(Cascade<Scalar> cascade, std::vector<Matrix<Scalar>> inverse_covariances);

  const Cascade<Scalar>& cascade() const { return cascade_; }
  const std::vector<Matrix<Scalar>>& inverse_covariances() const { return inverse_; }

  /// Steps 1 and 2 of the paper for one stage: the pair (features, delta) that the stage should
  /// have known. A value of the delta that is NaN is not known: its row of the map stays as it is.
  /// Throws Error on features that are not finite and on an infinite delta.
  void update_stage(int stage, ConstVectorRef<Scalar> features, ConstVectorRef<Scalar> delta,
                    const OnlineOptions& options = {});

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
    OnlineCascade updated = *this;
    Vector<Scalar> x = x0, delta(cascade_.delta_size());
    Solver<Scalar> solver(updated.cascade_);
    // A stage learns before it moves the sample.
    const SolveSummary summary = solver.solve(
        problem, sample, x, false, [&](int stage, const auto& at, const auto& features) {
          sdm::difference(problem, at, target, delta);
          updated.update_stage(stage, features, delta, options);
        });
    if (!summary.finite)
      throw Error("stage " + std::to_string(summary.stages) + ": the sample's step is not finite");
    *this = std::move(updated);
  }

  /// The whole state as a model of kind "online", and back; and as a file.
  io::Model to_model() const;
  static OnlineCascade from_model(const io::Model& model);
  void save(const std::filesystem::path& path) const;
  static OnlineCascade load(const std::filesystem::path& path);

 private:
  Cascade<Scalar> cascade_;
  std::vector<Matrix<Scalar>> inverse_;
};

}  // namespace sdm
