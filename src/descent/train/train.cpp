#include "sdm/descent/train/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <system_error>

#include "base/formatted.h"
#include "descent/train/checkpoint.h"
#include "descent/train/single_process.h"
#include "descent/train/stage_regression.h"
#include "linear/blas.h"
#include "sdm/base/error.h"

namespace sdm {

const Penalty& TrainOptions::penalty_of(int stage) const {
  if (stage_penalties.empty()) return penalty;
  return stage_penalties[std::min(static_cast<std::size_t>(stage), stage_penalties.size() - 1)];
}

void TrainOptions::validate() const {
  const auto require = [](bool good, const std::string& message) {
    if (!good) throw Error(message);
  };
  require(stages >= 1, formatted("stages is {}, expected at least 1", stages));
  require(folds >= 1, formatted("folds is {}, expected at least 1", folds));
  for (int stage = 0; stage < stages; ++stage) {
    penalty_of(stage).validate();
    require(penalty_of(stage).kind != Penalty::Kind::kHeldOut || folds >= 2,
            "a penalty chosen by held-out error needs at least 2 folds; folds is 1");
  }
  require(pca_energy > 0 && pca_energy <= 1,
          formatted("pca_energy is {}, expected more than 0 and at most 1", pca_energy));
  require(rank >= 0, formatted("rank is {}, expected 0 (whole maps) or more", rank));
  require(rank_tolerance >= 0,
          formatted("rank_tolerance is {}, expected 0 or more", rank_tolerance));
  require(rank_tolerance == 0 || (rank > 0 && folds >= 2),
          "rank_tolerance chooses the rank by held-out error, which needs rank > 0 and at least 2 "
          "folds");
  require(threads >= 0, formatted("threads is {}, expected 0 (all cores) or more", threads));
  require(chunk >= 0, formatted("chunk is {}, expected 0 (automatic) or more", chunk));
}

std::string TrainSummary::brief_report() const {
  if (stages.empty()) return "no stages";
  return formatted("{} samples, {} stages, error {:.6g} -> {:.6g} in {:.3g} s", samples,
                   stages.size(), stages.front().error_before, stages.back().error_after, seconds);
}

std::string TrainSummary::full_report() const {
  std::string text =
      brief_report() + "\n stage      error before       after    penalty  features\n";
  for (const StageSummary& s : stages) {
    text += formatted("{:6} {:17.6g} {:11.6g} {:10.3g} {:9}", s.stage, s.error_before,
                      s.error_after, s.penalty, s.features);
    if (s.components != s.features) text += formatted(", {} components", s.components);
    if (s.rank > 0) text += formatted(", rank {}", s.rank);
    if (s.dual) text += ", dual form";
    text += '\n';
  }
  return text;
}

namespace detail {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// How long the parts of the training take, as far as they are known, and so how long is left.
struct Costs {
  double accumulate = 0, advance = 0;  // seconds a sample
  double solve = 0;                    // seconds a stage

  double stage(double samples) const { return samples * (accumulate + advance) + solve; }
};

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
        world_(options.communicator != nullptr ? *options.communicator : single_process_),
        samples_(problem.samples()),
        state_size_(problem.state_size()),
        delta_size_(problem.delta_size()) {
    together([&] { check_input(starts); });
    states_ = starts.cols() == samples_ ? Matrix<Scalar>(starts) : starts.replicate(1, samples_);
    total_samples_ = static_cast<Index>(sum_of(static_cast<double>(samples_)));
    errors_.resize(static_cast<std::size_t>(samples_));
    groups_ = 0;
    for (Index i = 0; i < samples_; ++i) groups_ = std::max(groups_, problem_.group(i) + 1);
    groups_ = world_.maximum(groups_);
    find_groups();
    folds_ = static_cast<int>(std::min(static_cast<std::size_t>(options_.folds), present_.size()));
    together([&] {
      for (int stage = 0; stage < options_.stages; ++stage) {
        if (folds_ < 2 && options_.penalty_of(stage).kind == Penalty::Kind::kHeldOut)
          throw Error(
              "a penalty chosen by held-out error needs at least 2 groups of samples, found 1");
        if (options_.keep_inverse_covariance) check_online(stage);
      }
    });
  }

  TrainResult<Scalar> run() {
    const auto start = Clock::now();
    TrainResult<Scalar> result;
    result.cascade.state_size = state_size_;
    result.summary.samples = total_samples_;
    resume(result);
    const int first = result.cascade.stages();
    together([&] {
      estimate(options_.stages - first);
      for (int stage = 0; stage < first; ++stage)
        problem_.learned(stage, result.cascade.maps[static_cast<std::size_t>(stage)]);
    });
    measure_errors(first);
    for (int stage = first; stage < options_.stages; ++stage) {
      run_stage(stage, result);
      together([&] { problem_.learned(stage, result.cascade.maps.back()); });
      if (!options_.checkpoint.empty()) save(result);
      together([&] {
        if (observer_.stage) observer_.stage(result.summary.stages.back());
      });
    }
    result.summary.seconds = seconds_since(start);
    return result;
  }

 private:
  // Runs something on every rank; if it fails on one, all of them throw.
  template <class Work>
  void together(Work&& work) {
    std::string failure;
    try {
      work();
    } catch (const std::exception& e) {
      failure = e.what();
      if (world_.size() == 1) throw;
    }
    world_.agree(failure);
  }

  double sum_of(double value) {
    world_.sum_to_root(std::span(&value, 1));
    world_.broadcast(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  void check_input(ConstMatrixRef<Scalar> starts) const {
    options_.validate();
    if (samples_ < 1) throw Error("the problem has no samples, expected at least one");
    if (state_size_ < 1) throw Error(formatted("the problem's states have {} values", state_size_));
    if (delta_size_ < 1) throw Error(formatted("the problem's deltas have {} values", delta_size_));
    check_states<Scalar>("starts", starts, state_size_, samples_);
    check_states<Scalar>("targets", targets_, state_size_, samples_);
    for (int stage = 0; stage < options_.stages; ++stage)
      if (problem_.feature_size(stage) < 1)
        throw Error(formatted("stage {} has {} features, expected at least one", stage,
                              problem_.feature_size(stage)));
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

  // Before a stage's work is done, since its equations cannot give what is asked for.
  void check_online(int stage) const {
    const Index features = problem_.feature_size(stage);
    const bool dual = world_.size() == 1 && total_samples_ < features;
    if (options_.pca_energy < 1 || dual || !problem_.symmetry(stage).empty())
      throw Error(
          formatted("stage {}: inverse covariances can be kept only without a symmetry, without "
                    "PCA and with at least as many samples as features ({} and {})",
                    stage, total_samples_, features));
  }

  auto target(Index sample) const { return targets_.col(targets_.cols() == 1 ? 0 : sample); }

  Index chunk(Index features) const {
    if (options_.chunk > 0) return options_.chunk;
    // From the number of features alone: the bits must not depend on the machine.
    return std::clamp<Index>((Index(1) << 23) / features, 64, 4096);
  }

  // Runs one of the problem's own functions, so that what it throws names stage and sample.
  template <class Call>
  static void guarded(const char* member, int stage, Index sample, Call&& call) {
    try {
      call();
    } catch (const std::exception& e) {
      throw Error(formatted("stage {}, sample {}: the problem's {} threw: {}", stage, sample,
                            member, e.what()));
    }
  }

  void features(Index sample, int stage, ConstVectorRef<Scalar> x, VectorRef<Scalar> out) const {
    guarded("features", stage, sample, [&] { problem_.features(sample, stage, x, out); });
    if (out.allFinite()) return;
    Index bad = 0;
    while (std::isfinite(out[bad])) ++bad;
    throw Error(formatted("stage {}, sample {}: feature {} is {}, expected a finite number", stage,
                          sample, bad, out[bad]));
  }

  void measure_errors(int stage) {
    together([&] {
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
    mean_error_ = sum_of(std::accumulate(errors_.begin(), errors_.end(), 0.0)) /
                  static_cast<double>(total_samples_);
  }

  // The groups that have a sample on any rank: numbers may be left out, and a fold must not be
  // dealt such ones alone.
  void find_groups() {
    std::vector<float> samples(static_cast<std::size_t>(groups_), 0.0F);
    for (Index i = 0; i < samples_; ++i)
      samples[static_cast<std::size_t>(problem_.group(i))] = 1.0F;
    world_.sum_to_root(std::span(samples));
    world_.broadcast(std::as_writable_bytes(std::span(samples)));
    for (Index group = 0; group < groups_; ++group)
      if (samples[static_cast<std::size_t>(group)] > 0) present_.push_back(group);
  }

  // Folds are dealt to the groups in a random order, so that they differ by at most one group.
  std::vector<int> draw_folds(int stage) const {
    std::vector<Index> order = present_;
    std::mt19937_64 random(options_.seed * 0x9e3779b97f4a7c15ULL +
                           static_cast<std::uint64_t>(stage));
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    std::vector<int> fold_of_group(static_cast<std::size_t>(groups_), 0);
    for (std::size_t i = 0; i < order.size(); ++i)
      fold_of_group[static_cast<std::size_t>(order[i])] =
          static_cast<int>(i % static_cast<std::size_t>(folds_));
    std::vector<int> folds(static_cast<std::size_t>(samples_));
    for (Index i = 0; i < samples_; ++i)
      folds[static_cast<std::size_t>(i)] =
          fold_of_group[static_cast<std::size_t>(problem_.group(i))];
    return folds;
  }

  // A typical feature vector, the root's: sums are kept relative to it.
  Vector<Scalar> typical_features(int stage, Index size) {
    Vector<Scalar> mean = Vector<Scalar>::Zero(size);
    together([&] {
      if (world_.rank() != 0) return;
      const Index count = std::min<Index>(samples_, 32);
      Vector<Scalar> one(size);
      for (Index i = 0; i < count; ++i) {
        features(i, stage, states_.col(i), one);
        mean += one / static_cast<Scalar>(count);
      }
    });
    world_.broadcast(
        std::as_writable_bytes(std::span(mean.data(), static_cast<std::size_t>(size))));
    return mean;
  }

  void run_stage(int stage, TrainResult<Scalar>& result) {
    const auto start = Clock::now();
    StageSummary summary;
    summary.stage = stage;
    summary.error_before = mean_error_;
    summary.features = problem_.feature_size(stage);

    const bool bias = !problem_.template_known();
    const std::vector<int> folds = draw_folds(stage);
    const Vector<Scalar> shift =
        bias ? typical_features(stage, summary.features) : Vector<Scalar>();
    StageMaps<Scalar> maps;
    TrainOptions stage_options = options_;
    stage_options.penalty = options_.penalty_of(stage);
    std::optional<StageRegression<Scalar>> regression;
    together([&] {
      // Ranks must take the same form, and the dual one needs all samples in one place.
      const Index known = world_.size() > 1 ? std::numeric_limits<Index>::max() : total_samples_;
      regression.emplace(problem_.symmetry(stage), summary.features, delta_size_, known, bias,
                         shift, stage_options, folds_);
      accumulate(stage, folds, *regression);
    });
    regression->sum_to_root(world_);

    const auto solving = Clock::now();
    Matrix<Scalar> inverse_covariance;
    together([&] {
      report(stage, Activity::kSolving, 0);
      if (world_.rank() != 0) return;
      try {
        maps = regression->solve(options_.seed + static_cast<std::uint64_t>(stage), pool_);
        if (options_.keep_inverse_covariance)
          inverse_covariance = regression->inverse_covariance(maps.penalty);
      } catch (const Error& e) {
        throw Error(formatted("stage {}: {}", stage, e.what()));
      }
    });
    summary.dual = regression->dual();
    regression.reset();
    broadcast(maps);
    costs_.solve = seconds_since(solving);

    advance(stage, folds, maps);
    measure_errors(stage);
    summary.error_after = mean_error_;
    summary.penalty = maps.penalty;
    summary.penalty_factor = maps.penalty_factor;
    summary.components = maps.components;
    summary.rank = maps.full.rank();
    summary.seconds = seconds_since(start);
    result.cascade.maps.push_back(std::move(maps.full));
    if (options_.keep_inverse_covariance)
      result.inverse_covariances.push_back(std::move(inverse_covariance));
    result.summary.stages.push_back(summary);
  }

  void accumulate(int stage, const std::vector<int>& folds, StageRegression<Scalar>& regression) {
    const auto start = Clock::now();
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
        features(sample, stage, states_.col(sample), f.col(c));
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
      regression.add(fold, f, d, weights, pool_);
      first += count;
      costs_.accumulate = seconds_since(start) / static_cast<double>(first);
      report(stage, Activity::kAccumulating, first);
    }
  }

  void advance(int stage, const std::vector<int>& folds, const StageMaps<Scalar>& maps) {
    const auto start = Clock::now();
    const Index size = problem_.feature_size(stage);
    constexpr Index kSlice = 32;  // columns of one matrix product
    const Index slices = (samples_ + kSlice - 1) / kSlice;
    const Index batch = std::max<Index>(1, chunk(size) / kSlice);
    std::vector<Matrix<Scalar>> buffers(static_cast<std::size_t>(pool_.threads()));
    together([&] {
      for (Index first = 0; first < slices; first += batch) {
        pool_.run(std::min(batch, slices - first), [&](Index s, int worker) {
          const Index begin = (first + s) * kSlice, count = std::min(kSlice, samples_ - begin);
          Matrix<Scalar>& f = buffers[static_cast<std::size_t>(worker)];
          f.resize(size, count);
          for (Index c = 0; c < count; ++c)
            features(begin + c, stage, states_.col(begin + c), f.col(c));
          move(stage, begin, f, folds, maps);
        });
        const Index done = std::min(samples_, (first + batch) * kSlice);
        costs_.advance = seconds_since(start) / static_cast<double>(done);
        report(stage, Activity::kAdvancing, done);
      }
    });
  }

  // Moves the samples whose features stand in f, each by the map that has not seen it.
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
                [&] { problem_.step(states_.col(begin + c), deltas.col(c), next); });
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

  void broadcast(StageMaps<Scalar>& maps) {
    if (world_.size() == 1) return;
    const auto number = [&](auto& value) {
      world_.broadcast(std::as_writable_bytes(std::span(&value, 1)));
    };
    const auto share = [&](auto values) {
      Index sizes[2] = {values.rows(), values.cols()};
      world_.broadcast(std::as_writable_bytes(std::span(sizes)));
      values.resize(sizes[0], sizes[1]);
      world_.broadcast(std::as_writable_bytes(
          std::span(values.data(), static_cast<std::size_t>(values.size()))));
      return values;
    };
    number(maps.penalty);
    number(maps.penalty_factor);
    number(maps.components);
    std::size_t folds = maps.without_fold.size();
    number(folds);
    maps.without_fold.resize(folds);
    const auto share_map = [&](DescentMap<Scalar>& map) {
      Matrix<Scalar> left = share(map.left()), right = share(map.right());
      Vector<Scalar> bias = share(map.bias());
      if (left.size() == 0)
        map = DescentMap<Scalar>(std::move(right), std::move(bias));
      else
        map = DescentMap<Scalar>(std::move(left), std::move(right), std::move(bias));
    };
    share_map(maps.full);
    for (DescentMap<Scalar>& map : maps.without_fold) share_map(map);
  }

  void estimate(int stages_left) {
    if (!observer_.estimate && !observer_.progress) return;
    TrainEstimate estimate;
    const Index size = problem_.feature_size(0);
    const bool symmetric = !problem_.symmetry(0).empty();
    const double n = static_cast<double>(samples_), d = static_cast<double>(size);
    estimate.bytes =
        StageRegression<Scalar>::bytes(symmetric, size, delta_size_, total_samples_, folds_) +
        sizeof(Scalar) * (2.0 * std::min(n, static_cast<double>(chunk(size))) * d +
                          n * static_cast<double>(state_size_));

    // What a feature vector and a product cost here, tried out.
    const Index tries = std::min<Index>(samples_, 4);
    Vector<Scalar> f(size);
    auto start = Clock::now();
    try {
      for (Index i = 0; i < tries; ++i) features(i, 0, states_.col(i), f);
    } catch (const Error&) {
      return;  // the first stage will meet it and say so, on all ranks
    }
    const double per_features = seconds_since(start) / static_cast<double>(tries);
    const Index k = 256;
    const Matrix<Scalar> a = Matrix<Scalar>::Constant(k, k, 1);
    Matrix<Scalar> c(k, k);
    start = Clock::now();
    linear::blas::multiply<Scalar>(false, true, k, k, k, 1, a.data(), k, a.data(), k, 0, c.data(),
                                   k);
    const double rate = 2.0 * k * k * k / std::max(seconds_since(start), 1e-6);

    const double threads = pool_.threads(), blocks = symmetric ? 2 : 1;
    const Penalty& penalty = options_.penalty_of(0);
    const double penalties = static_cast<double>(penalty.values.size());
    const bool need_folds = options_.cross_fit || penalty.kind == Penalty::Kind::kHeldOut;
    const double solves = 1 + (folds_ > 1 && need_folds ? folds_ * penalties : 0.0);
    costs_.accumulate = (per_features + d * d / blocks / rate) / threads;
    costs_.advance = (per_features + 2 * d * static_cast<double>(delta_size_) / rate) / threads;
    costs_.solve = solves * d * d * d / 3 / (blocks * blocks) / rate / threads;
    estimate.seconds = stages_left * costs_.stage(n);
    if (observer_.estimate) observer_.estimate(estimate);
  }

  enum class Activity { kAccumulating, kSolving, kAdvancing };

  void report(int stage, Activity activity, Index done) const {
    if (!observer_.progress) return;
    const double n = static_cast<double>(samples_), undone = n - static_cast<double>(done);
    double left = (options_.stages - 1 - stage) * costs_.stage(n);
    const char* name = "";
    switch (activity) {
      case Activity::kAccumulating:
        name = "accumulating";
        left += undone * costs_.accumulate + costs_.solve + n * costs_.advance;
        break;
      case Activity::kSolving:
        name = "solving";
        left += costs_.solve + n * costs_.advance;
        break;
      case Activity::kAdvancing:
        name = "advancing";
        left += undone * costs_.advance;
        break;
    }
    observer_.progress({stage, options_.stages, done, samples_, name, left});
  }

  // Ranks keep a file for each stage until all have written the next one, so that a stage which all
  // of them have always exists. A process alone replaces its one file.
  std::string checkpoint_path(Index stage) const {
    if (world_.size() == 1) return options_.checkpoint;
    return formatted("{}.rank{}.stage{}", options_.checkpoint, world_.rank(), stage);
  }

  void resume(TrainResult<Scalar>& result) {
    if (options_.checkpoint.empty()) return;
    together(
        [&] { fingerprint_ = fingerprint<Scalar>(problem_, states_, targets_, options_, world_); });
    const auto exists = [](const std::string& path) {
      std::error_code ignored;  // what is there but cannot be looked at fails when it is written
      return std::filesystem::exists(path, ignored);
    };
    Index stage = 0;
    if (world_.size() == 1) {
      stage = exists(options_.checkpoint) ? 1 : 0;
    } else {
      for (Index s = options_.stages; s > 0 && stage == 0; --s)
        if (exists(checkpoint_path(s))) stage = s;
      stage = world_.minimum(stage);
    }
    if (stage == 0) return;
    together([&] {
      Checkpoint<Scalar> checkpoint = read_checkpoint<Scalar>(checkpoint_path(stage), fingerprint_);
      if (checkpoint.states.rows() != states_.rows() || checkpoint.states.cols() != states_.cols())
        throw Error(formatted("{}: the checkpoint holds {} states, expected {}",
                              checkpoint_path(stage), checkpoint.states.cols(), states_.cols()));
      states_ = std::move(checkpoint.states);
      result.cascade.maps = std::move(checkpoint.maps);
      result.inverse_covariances = std::move(checkpoint.inverse_covariances);
      result.summary.stages = std::move(checkpoint.stages);
      result.summary.resumed_from = result.cascade.stages();
    });
  }

  void save(const TrainResult<Scalar>& result) {
    const Index stage = result.cascade.stages();
    together([&] {
      write_checkpoint(checkpoint_path(stage),
                       Checkpoint<Scalar>{fingerprint_, states_, result.cascade.maps,
                                          result.inverse_covariances, result.summary.stages});
    });
    std::error_code ignored;  // an old file that stays does no harm
    if (world_.size() > 1 && stage > 1)
      std::filesystem::remove(checkpoint_path(stage - 1), ignored);
  }

  const AnyProblem<Scalar>& problem_;
  ConstMatrixRef<Scalar> targets_;
  const TrainOptions& options_;
  const TrainObserver& observer_;
  const linear::blas::SingleThreaded single_threaded_;
  ThreadPool pool_;
  SingleProcess single_process_;
  Communicator& world_;
  Index samples_, state_size_, delta_size_;
  Index total_samples_ = 0, groups_ = 0;
  std::vector<Index> present_;
  int folds_ = 1;
  Matrix<Scalar> states_;
  std::vector<double> errors_;
  double mean_error_ = 0;
  Costs costs_;
  std::uint64_t fingerprint_ = 0;
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
