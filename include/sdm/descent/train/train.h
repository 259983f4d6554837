#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sdm/descent/cascade.h"
#include "sdm/descent/online.h"
#include "sdm/descent/problem.h"
#include "sdm/linear/penalty.h"
#include "sdm/linear/symmetry.h"

namespace sdm {

class Communicator;  // descent/communicator.h

/// How to train. Every default is a choice that works for small, well-behaved problems.
struct TrainOptions {
  /// Maps in the cascade. Each one sees the samples where the one before it left them.
  int stages = 4;

  /// Strength of the ridge in every stage.
  Penalty penalty;

  /// A penalty for each stage in place of that one, the last for all further stages; empty: none.
  /// Late stages have little left to explain and may want to be held back more.
  std::vector<Penalty> stage_penalties;

  /// Measure every feature in units of its own deviation over the samples (from its mean where
  /// there is a bias, from zero where there is none), and every value of a delta likewise, before
  /// the penalty, the PCA and the reduction of rank. The maps then do not depend on anybody's
  /// units. A feature that never varies is left out.
  bool standardise = false;

  /// Parts the samples are split into (by group). 1 is the paper's plain way. With more, a sample
  /// moves on by the map that did not see it, so that later stages learn from the errors that new
  /// data will make, not from the smaller ones of training data.
  int folds = 1;

  /// false: keep the folds for choosing the penalty alone and let every sample move by the full
  /// map.
  bool cross_fit = true;

  /// Share of the features' energy (trace of the centred Gram) kept by PCA before the regression;
  /// 1 leaves PCA out. The paper keeps 0.98.
  double pca_energy = 1;

  /// Largest rank of a map; 0 keeps it whole. The map is then stored as two thin factors.
  Index rank = 0;

  /// With `rank` > 0 and at least two folds: take the smallest rank up to `rank` whose held-out
  /// error is within this share of the best one. 0 takes `rank` as it is.
  double rank_tolerance = 0;

  /// A weight from a sample's current error, to hold outliers back (min(1, 0.04/error) for faces).
  std::function<double(double error)> robust_weight;

  /// Draws the folds. The same seed gives the same bits for any number of threads.
  std::uint64_t seed = 1;

  /// Threads for features and linear algebra; 0 takes all cores.
  int threads = 0;

  /// Samples whose features are in memory at once; 0 chooses from the number of features alone, so
  /// that the bits do not depend on the machine.
  Index chunk = 0;

  /// Bytes for features that are kept from the pass that learns a map to the pass that moves the
  /// samples by it. What does not fit is evaluated in both. The bits do not depend on it.
  double feature_memory = 256.0 * (1 << 20);

  /// After every stage the state of the training goes to this file; if the file is there at the
  /// start and belongs to this training, training goes on from it. Empty: no checkpoint.
  std::string checkpoint;

  /// Keep what online updates need (descent/online.h): the inverse covariance of every stage. Not
  /// with PCA or a symmetry, nor with fewer samples than features.
  bool keep_inverse_covariance = false;

  /// The other ranks of a distributed training; null: this process is alone.
  Communicator* communicator = nullptr;

  /// The penalty that holds in a stage.
  const Penalty& penalty_of(int stage) const;

  /// Throws Error naming the first option that makes no sense.
  void validate() const;
};

/// Removes what a training has left of its checkpoint, on each rank its own files.
void remove_checkpoint(const std::string& checkpoint, const Communicator* communicator = nullptr);

/// What one stage did. Errors are means over the samples, in the unit of the problem's `error`.
struct StageSummary {
  int stage = 0;
  double error_before = 0;
  double error_after = 0;     // after the samples moved on: held-out error when cross-fitted
  double penalty = 0;         // the lambda used
  double penalty_factor = 0;  // the same relative to trace(Gram)/size
  /// Where held-out error chose: the factor of each value of a delta. `penalty` and
  /// `penalty_factor` are then the largest.
  std::vector<double> penalty_factors;
  Index features = 0;
  Index components = 0;  // kept by PCA; equal to `features` without it
  Index rank = 0;        // 0: whole map
  bool dual = false;
  double seconds = 0;
};

struct TrainSummary {
  Index samples = 0;
  std::vector<StageSummary> stages;
  int resumed_from = 0;  // stages taken from a checkpoint
  double seconds = 0;

  std::string brief_report() const;
  std::string full_report() const;
};

/// Told before the first stage: what this training will want.
struct TrainEstimate {
  double bytes = 0;
  double seconds = 0;
};

/// Told as samples go by.
struct TrainProgress {
  int stage = 0;
  int stages = 0;
  Index samples_done = 0;  // in this pass
  Index samples = 0;
  const char* activity = "";  // "accumulating", "solving", "advancing"
  double seconds_left = 0;    // of the whole training
};

/// Callbacks of a training; all run in the thread that called `train`. Empty ones are left out.
struct TrainObserver {
  std::function<void(const TrainEstimate&)> estimate;
  std::function<void(const TrainProgress&)> progress;
  std::function<void(const StageSummary&)> stage;
};

template <class Scalar>
struct TrainResult {
  Cascade<Scalar> cascade;
  TrainSummary summary;
  /// Where the samples came to, a column each; with cross-fitting moved by maps that had not seen
  /// them.
  Matrix<Scalar> states;
  /// With keep_inverse_covariance, on rank 0: what every stage remembers of its samples.
  std::vector<InverseCovariance> inverse_covariances;
};

/// What was trained with keep_inverse_covariance, ready to learn from new samples.
template <class Scalar>
OnlineCascade<Scalar> online(TrainResult<Scalar> trained) {
  return {std::move(trained.cascade), std::move(trained.inverse_covariances)};
}

namespace detail {

/// A problem behind virtual calls, so that the trainer is compiled once.
template <class Scalar>
class AnyProblem {
 public:
  virtual ~AnyProblem() = default;
  virtual Index samples() const = 0;
  virtual Index state_size() const = 0;
  virtual Index delta_size() const = 0;
  virtual Index feature_size(int stage) const = 0;
  virtual bool template_known() const = 0;
  virtual void features(Index sample, int stage, ConstVectorRef<Scalar> x,
                        VectorRef<Scalar> out) const = 0;
  virtual bool one_function() const = 0;  // then features are the following two
  virtual void values_at(int stage, ConstVectorRef<Scalar> x, VectorRef<Scalar> out) const = 0;
  virtual void subtract_template(Index sample, VectorRef<Scalar> out) const = 0;
  virtual void difference(ConstVectorRef<Scalar> x, ConstVectorRef<Scalar> target,
                          VectorRef<Scalar> out) const = 0;
  virtual void step(int stage, ConstVectorRef<Scalar> x, ConstVectorRef<Scalar> delta,
                    VectorRef<Scalar> out) const = 0;
  virtual Index group(Index sample) const = 0;
  virtual double weight(Index sample) const = 0;
  virtual double error(Index sample, ConstVectorRef<Scalar> delta) const = 0;
  virtual std::vector<Index> moved(int stage) const = 0;
  virtual Symmetry symmetry(int stage) const = 0;
  virtual void learned(int stage, const DescentMap<Scalar>& map) const = 0;
  virtual bool renew(int stage, const std::vector<DescentMap<Scalar>>& maps, Matrix<Scalar>& states,
                     Matrix<Scalar>& targets) const = 0;
};

template <Problem P>
class ProblemAdapter final : public AnyProblem<typename P::Scalar> {
 public:
  using Scalar = typename P::Scalar;
  explicit ProblemAdapter(const P& problem) : p_(problem) {}

  Index samples() const override { return p_.samples(); }
  Index state_size() const override { return p_.state_size(); }
  Index delta_size() const override { return sdm::delta_size(p_); }
  Index feature_size(int stage) const override { return p_.feature_size(stage); }
  bool template_known() const override { return p_.template_known(); }
  void features(Index sample, int stage, ConstVectorRef<Scalar> x,
                VectorRef<Scalar> out) const override {
    p_.features(sample, stage, x, out);
  }
  bool one_function() const override { return OneFunction<P>; }
  void values_at([[maybe_unused]] int stage, [[maybe_unused]] ConstVectorRef<Scalar> x,
                 [[maybe_unused]] VectorRef<Scalar> out) const override {
    if constexpr (OneFunction<P>) p_.values_at(stage, x, out);
  }
  void subtract_template([[maybe_unused]] Index sample,
                         [[maybe_unused]] VectorRef<Scalar> out) const override {
    if constexpr (OneFunction<P>) p_.subtract_template(sample, out);
  }
  void difference(ConstVectorRef<Scalar> x, ConstVectorRef<Scalar> target,
                  VectorRef<Scalar> out) const override {
    sdm::difference(p_, x, target, out);
  }
  void step(int stage, ConstVectorRef<Scalar> x, ConstVectorRef<Scalar> delta,
            VectorRef<Scalar> out) const override {
    sdm::step(p_, stage, x, delta, out);
  }
  Index group(Index sample) const override {
    if constexpr (requires { p_.group(sample); }) return p_.group(sample);
    return sample;
  }
  double weight(Index sample) const override {
    if constexpr (requires { p_.weight(sample); }) return p_.weight(sample);
    return 1;
  }
  double error(Index sample, ConstVectorRef<Scalar> delta) const override {
    if constexpr (requires { p_.error(sample, delta); }) return p_.error(sample, delta);
    return static_cast<double>(delta.norm());
  }
  std::vector<Index> moved(int stage) const override {
    constexpr bool callable = requires(const P& p) { std::vector<Index>(p.moved(0)); };
    static_assert(callable || !has_moved<P>,
                  "`moved` of this problem cannot be called as `std::vector<Index> moved(int "
                  "stage) const`");
    if constexpr (callable) return p_.moved(stage);
    return {};
  }
  Symmetry symmetry(int stage) const override {
    constexpr bool callable = requires(const P& p) { Symmetry(p.symmetry(0)); };
    static_assert(callable || !has_symmetry<P>,
                  "`symmetry` of this problem cannot be called as `Symmetry symmetry(int stage) "
                  "const`");
    if constexpr (callable) return p_.symmetry(stage);
    return {};
  }
  void learned(int stage, const DescentMap<Scalar>& map) const override {
    constexpr bool callable = requires(const P& p) { p.learned(stage, map); };
    static_assert(callable || !has_learned<P>,
                  "`learned` of this problem cannot be called as `void learned(int stage, const "
                  "DescentMap<Scalar>& map) const`");
    if constexpr (callable) p_.learned(stage, map);
  }
  bool renew([[maybe_unused]] int stage,
             [[maybe_unused]] const std::vector<DescentMap<Scalar>>& maps,
             [[maybe_unused]] Matrix<Scalar>& states,
             [[maybe_unused]] Matrix<Scalar>& targets) const override {
    constexpr bool callable = requires(const P& p) { bool(p.renew(stage, maps, states, targets)); };
    static_assert(callable || !has_renew<P>,
                  "`renew` of this problem cannot be called as `bool renew(int stage, const "
                  "std::vector<DescentMap<Scalar>>& maps, Matrix<Scalar>& states, Matrix<Scalar>& "
                  "targets) const`");
    if constexpr (callable) return p_.renew(stage, maps, states, targets);
    return false;
  }

 private:
  const P& p_;
};

/// Throws Error unless there are states for all samples: one, or one for each, all finite.
template <class Scalar>
void check_states(const char* what, ConstMatrixRef<Scalar> states, Index state_size, Index samples);

template <class Scalar>
TrainResult<Scalar> train(const AnyProblem<Scalar>& problem, ConstMatrixRef<Scalar> starts,
                          ConstMatrixRef<Scalar> targets, const TrainOptions& options,
                          const TrainObserver& observer);

}  // namespace detail

/// Learns a cascade of descent maps (sections "Relaxed SDM", "Generalized SDM", "Unknown y*").
///
/// Per stage k: features f_i at the current states x_i, deltas d_i = difference(x_i, target_i),
/// weighted ridge regression of d on -f (with a bias where the template is unknown), then every
/// sample moves: x_i <- step(x_i, b - R f_i). Features are streamed in chunks; no more of them are
/// stored than `feature_memory` allows, unless there are fewer samples than features. A sample's
/// features are evaluated once in a stage where they fit, and a function of one common start once
/// for all samples. Where features carry nothing at all (every
/// sample has arrived) the map is zero; a single sample teaches the bias alone.
///
/// Needs: `starts` and `targets` with `state_size()` rows and a column for each sample, or a single
/// column for all of them. Gives the cascade and what each stage did. Throws Error on bad sizes or
/// options, on non-finite features or states, on a singular system and on a problem that throws,
/// naming stage and sample.
template <Problem P>
TrainResult<typename P::Scalar> train(const P& problem, const Matrix<typename P::Scalar>& starts,
                                      const Matrix<typename P::Scalar>& targets,
                                      const TrainOptions& options = {},
                                      const TrainObserver& observer = {}) {
  return detail::train<typename P::Scalar>(detail::ProblemAdapter<P>(problem), starts, targets,
                                           options, observer);
}

/// The same for a plain function and examples of it: `targets` are states, a column each, and
/// `measured` what is known of h at each of them, a column each (or one for all). `starts` are
/// where solving will begin: one column, or one for each. h is `h(x, out)` or `h(x)`.
template <class H, class Starts, class Targets, class Measured>
requires(!Problem<H>) auto train(const H& h, const Eigen::MatrixBase<Starts>& starts,
                                 const Eigen::MatrixBase<Targets>& targets,
                                 const Eigen::MatrixBase<Measured>& measured,
                                 const TrainOptions& options = {},
                                 const TrainObserver& observer = {}) {
  return train(function_problem(std::cref(h), targets, measured),
               Matrix<typename Targets::Scalar>(starts), Matrix<typename Targets::Scalar>(targets),
               options, observer);
}

/// The same where nothing is measured (section "Unknown y*"): h returns its values, which tells how
/// many there are.
template <class H, class Starts, class Targets>
requires(!Problem<H>) auto train(const H& h, const Eigen::MatrixBase<Starts>& starts,
                                 const Eigen::MatrixBase<Targets>& targets,
                                 const TrainOptions& options = {},
                                 const TrainObserver& observer = {}) {
  using Scalar = typename Targets::Scalar;
  const Matrix<Scalar> from = starts, to = targets;
  static_assert(
      requires { h(Vector<Scalar>()).size(); },
      "without `measured` h must return its values: only so is their number known");
  if (from.cols() == 0) throw Error("there are no starts, expected at least one");
  const Vector<Scalar> first = from.col(0);
  const FunctionProblem<Scalar, std::reference_wrapper<const H>> problem(
      std::cref(h), to.rows(), h(first).size(), std::max(from.cols(), to.cols()), {});
  return train(problem, from, to, options, observer);
}

}  // namespace sdm
