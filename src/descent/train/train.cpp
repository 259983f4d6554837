#include "sdm/descent/train/train.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/formatted.h"
#include "descent/train/checkpoint.h"
#include "descent/train/feature_cache.h"
#include "descent/train/folds.h"
#include "descent/train/progress.h"
#include "descent/train/ranks.h"
#include "descent/train/stage_regression.h"
#include "linear/blas.h"
#include "sdm/base/error.h"
#include "sdm/base/random.h"

namespace sdm {

namespace detail {
namespace {

/// A map of some values of a delta as one of all of them.
template <class Scalar>
DescentMap<Scalar> spread(const DescentMap<Scalar>& map, const std::vector<Index>& moved,
                          Index delta_size) {
  const auto rows = [&](const Matrix<Scalar>& from) {
    Matrix<Scalar> to = Matrix<Scalar>::Zero(delta_size, from.cols());
    for (std::size_t i = 0; i < moved.size(); ++i)
      to.row(moved[i]) = from.row(static_cast<Index>(i));
    return to;
  };
  Vector<Scalar> bias = rows(map.bias());
  if (map.rank() == 0) return {rows(map.right()), std::move(bias)};
  return {rows(map.left()), map.right(), std::move(bias)};
}

template <class Scalar>
class Trainer {
 public:
  Trainer(const AnyProblem<Scalar>& problem, ConstMatrixRef<Scalar> starts,
          ConstMatrixRef<Scalar> targets, const TrainOptions& options,
          const TrainObserver& observer)
      : problem_(problem),
        targets_(targets),
        options_(options),
        observer_(observer),
        pool_(options.threads),
        ranks_(options.communicator),
        samples_(problem.samples()),
        state_size_(problem.state_size()),
        delta_size_(problem.delta_size()),
        features_(problem, states_, options.feature_memory),
        progress_(observer, options.stages, samples_) {
    ranks_.together([&] { check_input(starts); });
    states_ = starts.cols() == samples_ ? Matrix<Scalar>(starts) : starts.replicate(1, samples_);
    const Ranks::Share share = ranks_.share_of(samples_);
    total_samples_ = share.all;
    has_first_ = share.first == 0 && samples_ > 0;
    ranks_.together([&] {
      if (total_samples_ < 1) throw Error("the problem has no samples, expected at least one");
    });
    errors_.resize(static_cast<std::size_t>(samples_));
    std::vector<Index> groups;
    for (Index i = 0; i < samples_; ++i) groups.push_back(problem_.group(i));
    folds_.emplace(std::move(groups), options_.folds, options_.seed, ranks_);
    ranks_.together([&] {
      for (int stage = 0; stage < options_.stages; ++stage) {
        if (folds_->count() < 2 && options_.penalty_of(stage).kind == Penalty::Kind::kHeldOut)
          throw Error(
              "a penalty chosen by held-out error needs at least 2 groups of samples, found 1");
        if (options_.keep_inverse_covariance) check_online(stage);
      }
    });
  }

  TrainResult<Scalar> run() {
    const Stopwatch watch;
    TrainResult<Scalar> result;
    result.cascade.state_size = state_size_;
    result.cascade.template_known = problem_.template_known();
    result.summary.samples = total_samples_;
    CheckpointFiles<Scalar> files(problem_, states_, *targets_, options_, ranks_);
    files.resume(states_, result);
    const int first = result.cascade.stages();
    ranks_.together([&] {
      estimate(first);
      for (int stage = 0; stage < first; ++stage)
        problem_.learned(stage, result.cascade.maps[static_cast<std::size_t>(stage)]);
    });
    measure_errors(first);
    for (int stage = first; stage < options_.stages; ++stage) {
      if (stage > 0) renew(stage, result.cascade.maps);
      run_stage(stage, result);
      ranks_.together([&] { problem_.learned(stage, result.cascade.maps.back()); });
      files.save(states_, result);
      ranks_.together([&] {
        if (observer_.stage) observer_.stage(result.summary.stages.back());
      });
    }
    result.summary.seconds = watch.seconds();
    result.states = std::move(states_);
    return result;
  }

 private:
  void check_input(ConstMatrixRef<Scalar> starts) const {
    options_.validate();
    if (state_size_ < 1) throw Error(formatted("the problem's states have {} values", state_size_));
    if (delta_size_ < 1) throw Error(formatted("the problem's deltas have {} values", delta_size_));
    check_states<Scalar>("starts", starts, state_size_, samples_);
    check_states<Scalar>("targets", *targets_, state_size_, samples_);
    for (int stage = 0; stage < options_.stages; ++stage)
      if (problem_.feature_size(stage) < 1)
        throw Error(formatted("stage {} has {} features, expected at least one", stage,
                              problem_.feature_size(stage)));
    for (int stage = 0; stage < options_.stages; ++stage) check_moved(stage);
    for (Index i = 0; i < samples_; ++i) {
      if (problem_.group(i) < 0)
        throw Error(
            formatted("sample {} is in group {}, expected 0 or more", i, problem_.group(i)));
      if (!(problem_.weight(i) >= 0) || !std::isfinite(problem_.weight(i)))
        throw Error(
            formatted("sample {} has weight {}, expected a finite number that is not negative", i,
                      problem_.weight(i)));
    }
  }

  void check_moved(int stage) const {
    Index before = -1;
    for (const Index row : problem_.moved(stage)) {
      if (row <= before || row >= delta_size_)
        throw Error(
            formatted("stage {} moves value {} of a delta after value {}, expected ascending "
                      "numbers under {}",
                      stage, row, before, delta_size_));
      before = row;
    }
  }

  // Before a stage's work is done, since its equations cannot give what is asked for.
  void check_online(int stage) const {
    const Index features = problem_.feature_size(stage);
    const bool dual = ranks_.alone() && total_samples_ < features;
    if (options_.pca_energy < 1 || dual || !problem_.symmetry(stage).empty())
      throw Error(
          formatted("stage {}: inverse covariances can be kept only without a symmetry, without "
                    "PCA and with at least as many samples as features ({} and {})",
                    stage, total_samples_, features));
  }

  auto target(Index sample) const { return targets_->col(targets_->cols() == 1 ? 0 : sample); }

  void renew(int stage, const std::vector<DescentMap<Scalar>>& maps) {
    bool renewed = false;
    ranks_.together([&] {
      renewed = problem_.renew(stage, maps, states_, renewed_);
      if (!renewed) return;
      if (!options_.checkpoint.empty())
        throw Error("a checkpoint does not hold samples that are new in every stage: leave it out");
      check_states<Scalar>("new states", states_, state_size_, samples_);
      check_states<Scalar>("new targets", renewed_, state_size_, samples_);
      if (states_.cols() != samples_) states_ = states_.replicate(1, samples_).eval();
      targets_.emplace(renewed_);
    });
    if (ranks_.world().maximum(renewed ? 1 : 0) > 0) measure_errors(stage);
  }

  Index chunk(Index features) const {
    if (options_.chunk > 0) return options_.chunk;
    // From the number of features alone: the bits must not depend on the machine.
    return std::clamp<Index>((Index(1) << 23) / features, 64, 4096);
  }

  void measure_errors(int stage) {
    ranks_.together([&] {
      constexpr Index kSlice = 256;
      pool_.run((samples_ + kSlice - 1) / kSlice, [&](Index slice, int) {
        Vector<Scalar> delta(delta_size_);
        for (Index i = slice * kSlice; i < std::min(samples_, (slice + 1) * kSlice); ++i) {
          guarded("difference", stage, i,
                  [&] { problem_.difference(states_.col(i), target(i), delta); });
          if (!delta.allFinite())
            throw Error(formatted("stage {}, sample {}: the difference to its target is not finite",
                                  stage, i));
          double& error = errors_[static_cast<std::size_t>(i)];
          guarded("error", stage, i, [&] { error = problem_.error(i, delta); });
          if (!std::isfinite(error))
            throw Error(formatted("stage {}, sample {}: the error is {}, expected a finite number",
                                  stage, i, error));
        }
      });
    });
    mean_error_ = ranks_.sum(std::accumulate(errors_.begin(), errors_.end(), 0.0)) /
                  static_cast<double>(total_samples_);
  }

  // A typical feature vector, of the first rank with samples: sums are kept relative to it.
  Vector<Scalar> typical_features(Index size) {
    Vector<Scalar> mean = Vector<Scalar>::Zero(size);
    ranks_.together([&] {
      if (!has_first_) return;
      const Index count = std::min<Index>(samples_, 32);
      Vector<Scalar> one(size);
      for (Index i = 0; i < count; ++i) {
        features_.get(i, one);
        mean += one / static_cast<Scalar>(count);
      }
    });
    ranks_.sum(std::span(mean.data(), static_cast<std::size_t>(size)));
    return mean;
  }

  void run_stage(int stage, TrainResult<Scalar>& result) {
    const Stopwatch watch;
    StageSummary summary;
    summary.stage = stage;
    summary.error_before = mean_error_;
    summary.features = problem_.feature_size(stage);

    const bool bias = !problem_.template_known();
    const std::vector<Index> moved = problem_.moved(stage);
    const Index outputs = moved.empty() ? delta_size_ : static_cast<Index>(moved.size());
    const std::vector<int> folds = folds_->draw(stage);
    ranks_.together([&] { features_.begin(stage); });
    const Vector<Scalar> shift = bias ? typical_features(summary.features) : Vector<Scalar>();
    StageMaps<Scalar> maps;
    TrainOptions stage_options = options_;
    stage_options.penalty = options_.penalty_of(stage);
    std::optional<StageRegression<Scalar>> regression;
    ranks_.together([&] {
      // Ranks must take the same form, and the dual one needs all samples in one place.
      const Index known = !ranks_.alone() ? std::numeric_limits<Index>::max() : total_samples_;
      regression.emplace(problem_.symmetry(stage), summary.features, outputs, known, bias, shift,
                         stage_options, folds_->count());
      accumulate(stage, folds, moved, *regression);
    });
    regression->sum_to_root(ranks_.world());

    const Stopwatch solving;
    InverseCovariance inverse_covariance;
    ranks_.together([&] {
      progress_.solving(stage);
      if (!ranks_.is_root()) return;
      try {
        Random random(options_.seed, "stage regression", static_cast<std::uint64_t>(stage));
        maps = regression->solve(random, pool_);
        if (options_.keep_inverse_covariance)
          inverse_covariance = regression->inverse_covariance(maps.penalty);
      } catch (const Error& e) {
        throw Error(formatted("stage {}: {}", stage, e.what()));
      }
    });
    summary.dual = regression->dual();
    regression.reset();
    ranks_.broadcast(maps);
    if (!moved.empty()) {
      maps.full = spread(maps.full, moved, delta_size_);
      for (DescentMap<Scalar>& map : maps.without_fold) map = spread(map, moved, delta_size_);
    }
    progress_.solve = solving.seconds();

    advance(stage, folds, maps);
    measure_errors(stage);
    summary.error_after = mean_error_;
    summary.penalty = maps.penalty;
    summary.penalty_factor = maps.penalty_factor;
    summary.penalty_factors = maps.penalty_factors;
    summary.components = maps.components;
    summary.rank = maps.full.rank();
    summary.seconds = watch.seconds();
    result.cascade.maps.push_back(std::move(maps.full));
    if (options_.keep_inverse_covariance)
      result.inverse_covariances.push_back(std::move(inverse_covariance));
    result.summary.stages.push_back(summary);
  }

  void accumulate(int stage, const std::vector<int>& folds, const std::vector<Index>& moved,
                  StageRegression<Scalar>& regression) {
    const Stopwatch watch;
    const Index size = problem_.feature_size(stage);
    std::vector<Index> order(static_cast<std::size_t>(samples_));
    std::iota(order.begin(), order.end(), Index(0));
    // One fold after the other, so that a chunk belongs to one set of equations.
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
      return folds[static_cast<std::size_t>(a)] < folds[static_cast<std::size_t>(b)];
    });
    Matrix<Scalar> f, d;
    Vector<Scalar> weights;
    for (Index first = 0; first < samples_;) {
      const int fold = folds[static_cast<std::size_t>(order[static_cast<std::size_t>(first)])];
      Index count = 0;
      while (first + count < samples_ && count < chunk(size) &&
             folds[static_cast<std::size_t>(order[static_cast<std::size_t>(first + count)])] ==
                 fold)
        ++count;
      f.resize(size, count);
      d.resize(delta_size_, count);
      weights.resize(count);
      pool_.run(count, [&](Index c, int) {
        const Index sample = order[static_cast<std::size_t>(first + c)];
        features_.get(sample, f.col(c));
        problem_.difference(states_.col(sample), target(sample), d.col(c));
        double weight = problem_.weight(sample);
        if (options_.robust_weight)
          weight *= options_.robust_weight(errors_[static_cast<std::size_t>(sample)]);
        if (!(weight >= 0) || !std::isfinite(weight))
          throw Error(
              formatted("stage {}, sample {}: the weight is {}, expected a finite number that is "
                        "not negative",
                        stage, sample, weight));
        weights[c] = static_cast<Scalar>(weight);
      });
      for (std::size_t i = 0; i < moved.size(); ++i) d.row(static_cast<Index>(i)) = d.row(moved[i]);
      if (!moved.empty()) d.conservativeResize(static_cast<Index>(moved.size()), count);
      regression.add(fold, f, d, weights, pool_);
      first += count;
      progress_.accumulate = watch.seconds() / static_cast<double>(first);
      progress_.accumulating(stage, first);
    }
  }

  void advance(int stage, const std::vector<int>& folds, const StageMaps<Scalar>& maps) {
    const Stopwatch watch;
    const Index size = problem_.feature_size(stage);
    constexpr Index kSlice = 32;  // columns of one matrix product
    const Index slices = (samples_ + kSlice - 1) / kSlice;
    const Index batch = std::max<Index>(1, chunk(size) / kSlice);
    std::vector<Matrix<Scalar>> buffers(static_cast<std::size_t>(pool_.threads()));
    ranks_.together([&] {
      for (Index first = 0; first < slices; first += batch) {
        pool_.run(std::min(batch, slices - first), [&](Index s, int worker) {
          const Index begin = (first + s) * kSlice, count = std::min(kSlice, samples_ - begin);
          Matrix<Scalar>& f = buffers[static_cast<std::size_t>(worker)];
          f.resize(size, count);
          for (Index c = 0; c < count; ++c) features_.get(begin + c, f.col(c));
          move(stage, begin, f, folds, maps);
        });
        const Index done = std::min(samples_, (first + batch) * kSlice);
        progress_.advance = watch.seconds() / static_cast<double>(done);
        progress_.advancing(stage, done);
      }
    });
  }

  // The loop of solve.h for many samples at once: a matrix product for a whole slice is several
  // times as fast as one sample after the other, and each moves by the map that has not seen it.
  void move(int stage, Index begin, const Matrix<Scalar>& f, const std::vector<int>& folds,
            const StageMaps<Scalar>& maps) {
    Matrix<Scalar> deltas;
    Vector<Scalar> next(state_size_);
    const int sets = std::max(1, static_cast<int>(maps.without_fold.size()));
    for (int set = 0; set < sets; ++set) {
      const auto uses = [&](Index c) {
        return maps.without_fold.empty() || folds[static_cast<std::size_t>(begin + c)] == set;
      };
      bool any = false;
      for (Index c = 0; c < f.cols(); ++c) any = any || uses(c);
      if (!any) continue;
      const DescentMap<Scalar>& map =
          maps.without_fold.empty() ? maps.full : maps.without_fold[static_cast<std::size_t>(set)];
      deltas = multiply(map, f);
      for (Index c = 0; c < f.cols(); ++c) {
        if (!uses(c)) continue;
        guarded("step", stage, begin + c,
                [&] { problem_.step(stage, states_.col(begin + c), deltas.col(c), next); });
        if (!next.allFinite())
          throw Error(
              formatted("stage {}, sample {}: the state diverged (it is not finite after its "
                        "step); a larger penalty helps",
                        stage, begin + c));
        states_.col(begin + c) = next;
      }
    }
  }

  static Matrix<Scalar> multiply(const DescentMap<Scalar>& map, const Matrix<Scalar>& f) {
    const auto product = [](const Matrix<Scalar>& a, const Matrix<Scalar>& b) {
      Matrix<Scalar> c(a.rows(), b.cols());
      linear::blas::multiply<Scalar>(false, false, a.rows(), b.cols(), a.cols(), -1, a.data(),
                                     a.rows(), b.data(), b.rows(), 0, c.data(), a.rows());
      return c;
    };
    Matrix<Scalar> deltas = product(map.right(), f);
    if (map.rank() > 0) deltas = -product(map.left(), deltas);
    deltas.colwise() += map.bias();
    return deltas;
  }

  // What a feature vector and a product cost here, tried out.
  void estimate(int first) {
    if (!progress_.wanted() || samples_ == 0) return;
    const int stage = std::min(first, options_.stages - 1);
    const Index size = problem_.feature_size(stage);
    const bool symmetric = !problem_.symmetry(stage).empty();
    const int folds = folds_->count();
    const double n = static_cast<double>(samples_), d = static_cast<double>(size);
    const double bytes =
        StageRegression<Scalar>::bytes(symmetric, size, delta_size_, total_samples_, folds) +
        std::min(options_.feature_memory, sizeof(Scalar) * n * d) +
        sizeof(Scalar) * (2.0 * std::min(n, static_cast<double>(chunk(size))) * d +
                          n * static_cast<double>(state_size_));

    const Index tries = std::min<Index>(samples_, 4);
    Vector<Scalar> f(size);
    const Stopwatch looking;
    try {
      features_.begin(stage);
      for (Index i = 0; i < tries; ++i) features_.get(i, f);
    } catch (const Error&) {
      return;  // the first stage will meet it and say so, on all ranks
    }
    const double per_features = looking.seconds() / static_cast<double>(tries);
    const double again = features_.whole() ? 0 : per_features;  // in the second pass
    const Index k = 256;
    const Matrix<Scalar> a = Matrix<Scalar>::Constant(k, k, 1);
    Matrix<Scalar> c(k, k);
    const Stopwatch multiplying;
    linear::blas::multiply<Scalar>(false, true, k, k, k, 1, a.data(), k, a.data(), k, 0, c.data(),
                                   k);
    const double rate = 2.0 * k * k * k / std::max(multiplying.seconds(), 1e-6);

    const double threads = pool_.threads(), blocks = symmetric ? 2 : 1;
    const Penalty& penalty = options_.penalty_of(stage);
    const double penalties = static_cast<double>(penalty.values.size());
    const bool need_folds = options_.cross_fit || penalty.kind == Penalty::Kind::kHeldOut;
    const double solves = 1 + (folds > 1 && need_folds ? folds * penalties : 0.0);
    progress_.accumulate = (per_features + d * d / blocks / rate) / threads;
    progress_.advance = (again + 2 * d * static_cast<double>(delta_size_) / rate) / threads;
    progress_.solve = solves * d * d * d / 3 / (blocks * blocks) / rate / threads;
    progress_.estimate(bytes, options_.stages - first);
  }

  const AnyProblem<Scalar>& problem_;
  Matrix<Scalar> renewed_;                                   // targets of new samples
  std::optional<Eigen::Ref<const Matrix<Scalar>>> targets_;  // those given, or these
  const TrainOptions& options_;
  const TrainObserver& observer_;
  const linear::blas::SingleThreaded single_threaded_;
  ThreadPool pool_;
  Ranks ranks_;
  Index samples_, state_size_, delta_size_;
  Index total_samples_ = 0;
  bool has_first_ = false;  // the first sample of all ranks
  std::optional<Folds> folds_;
  Matrix<Scalar> states_;
  FeatureCache<Scalar> features_;
  std::vector<double> errors_;
  double mean_error_ = 0;
  Progress progress_;
};

}  // namespace

template <class Scalar>
void check_states(const char* what, ConstMatrixRef<Scalar> states, Index state_size,
                  Index samples) {
  if (states.rows() != state_size)
    throw Error(formatted("the {} have {} rows, expected {} (the size of a state)", what,
                          states.rows(), state_size));
  if (states.cols() != samples && states.cols() != 1)
    throw Error(formatted("there are {} {}, expected 1 or one for each of {} samples",
                          states.cols(), what, samples));
  for (Index c = 0; c < states.cols(); ++c)
    if (!states.col(c).allFinite()) throw Error(formatted("{} {}: a value is not finite", what, c));
}

template void check_states<float>(const char*, ConstMatrixRef<float>, Index, Index);
template void check_states<double>(const char*, ConstMatrixRef<double>, Index, Index);

template <class Scalar>
TrainResult<Scalar> train(const AnyProblem<Scalar>& problem, ConstMatrixRef<Scalar> starts,
                          ConstMatrixRef<Scalar> targets, const TrainOptions& options,
                          const TrainObserver& observer) {
  return Trainer<Scalar>(problem, starts, targets, options, observer).run();
}

template TrainResult<float> train(const AnyProblem<float>&, ConstMatrixRef<float>,
                                  ConstMatrixRef<float>, const TrainOptions&, const TrainObserver&);
template TrainResult<double> train(const AnyProblem<double>&, ConstMatrixRef<double>,
                                   ConstMatrixRef<double>, const TrainOptions&,
                                   const TrainObserver&);

}  // namespace detail
}  // namespace sdm
