#include "descent/train/checkpoint.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/formatted.h"
#include "base/hash.h"
#include "base/json.h"
#include "descent/map_tensors.h"
#include "sdm/base/error.h"
#include "sdm/io/file.h"

namespace sdm {

namespace detail {
namespace {

void put_summary(JsonWriter<nlohmann::json>& json, const StageSummary& s) {
  json.put("stage", s.stage).put("error_before", s.error_before).put("error_after", s.error_after);
  json.put("penalty", s.penalty).put("penalty_factor", s.penalty_factor);
  json.put("penalty_factors", s.penalty_factors).put("features", s.features);
  json.put("components", s.components).put("rank", s.rank).put("dual", s.dual);
  json.put("seconds", s.seconds);
}

StageSummary stage_summary(const nlohmann::json& json) {
  StageSummary s;
  s.stage = number_at<int>(json, "stage");
  s.error_before = number_at<double>(json, "error_before");
  s.error_after = number_at<double>(json, "error_after");
  s.penalty = number_at<double>(json, "penalty");
  s.penalty_factor = number_at<double>(json, "penalty_factor");
  s.penalty_factors = numbers_at<double>(json, "penalty_factors");
  s.features = number_at<Index>(json, "features");
  s.components = number_at<Index>(json, "components");
  s.rank = number_at<Index>(json, "rank");
  s.dual = json.at("dual").get<bool>();
  s.seconds = number_at<double>(json, "seconds");
  return s;
}

// A sample goes half way to its target in every stage, so that features, difference and step all
// have their say.
template <class Scalar>
void add_walk(Hash& hash, const AnyProblem<Scalar>& problem, Index sample, int stages,
              Vector<Scalar> x, ConstVectorRef<Scalar> target) {
  Vector<Scalar> next(x.size()), delta(problem.delta_size());
  try {
    for (int stage = 0; stage < stages; ++stage) {
      Vector<Scalar> features = Vector<Scalar>::Zero(problem.feature_size(stage));
      problem.features(sample, stage, x, features);
      delta.setZero();
      problem.difference(x, target, delta);
      hash.add(features);
      hash.add(delta);
      hash.add(problem.error(sample, delta));
      delta *= Scalar(0.5);
      next = x;
      problem.step(stage, x, delta, next);
      hash.add(next);
      x = next;
    }
  } catch (const std::exception&) {
    // The training may never come by here; if it does, it says so with stage and sample.
  }
}

}  // namespace

template <class Scalar>
std::uint64_t fingerprint(const AnyProblem<Scalar>& problem, const Matrix<Scalar>& starts,
                          ConstMatrixRef<Scalar> targets, const TrainOptions& options,
                          const Communicator& world) {
  Hash hash;
  hash.add(options.stages);
  for (int stage = 0; stage < options.stages; ++stage) {
    const Penalty& penalty = options.penalty_of(stage);
    hash.add(static_cast<int>(penalty.kind));
    for (const double value : penalty.values) hash.add(value);
  }
  hash.add(options.standardise);
  hash.add(options.folds);
  hash.add(options.cross_fit);
  hash.add(options.pca_energy);
  hash.add(options.rank);
  hash.add(options.rank_tolerance);
  hash.add(static_cast<bool>(options.robust_weight));
  if (options.robust_weight)
    for (int power = -10; power <= 10; ++power)
      hash.add(options.robust_weight(std::ldexp(1.0, power)));
  hash.add(options.seed);
  hash.add(options.chunk);
  hash.add(options.keep_inverse_covariance);
  hash.add(world.size());
  hash.add(world.rank());
  const Index samples = problem.samples();
  hash.add(samples);
  hash.add(problem.delta_size());
  hash.add(problem.template_known());
  for (int stage = 0; stage < options.stages; ++stage) {
    hash.add(problem.feature_size(stage));
    hash.add(problem.symmetry(stage).empty());
    for (const Index row : problem.moved(stage)) hash.add(row);
  }
  hash.add(starts);
  for (Index c = 0; c < targets.cols(); ++c) hash.add(Vector<Scalar>(targets.col(c)));
  for (Index i = 0; i < samples; ++i) {
    hash.add(problem.group(i));
    hash.add(problem.weight(i));
  }
  if (samples == 0) return hash.value();  // a rank of many
  for (const Index i : {Index(0), samples / 2, samples - 1})
    add_walk<Scalar>(hash, problem, i, options.stages, starts.col(i),
                     targets.col(targets.cols() == 1 ? 0 : i));
  return hash.value();
}

template <class Scalar>
void write_checkpoint(const std::string& path, const Checkpoint<Scalar>& checkpoint) {
  io::Model model;
  model.kind = "checkpoint";
  JsonWriter<nlohmann::json> header;
  header.put("fingerprint", formatted("{:016x}", checkpoint.fingerprint));
  header.objects("stages", checkpoint.stages, put_summary);
  model.header = header.text();
  model.put("states", io::to_tensor(checkpoint.states));
  put_maps(model, "", checkpoint.maps);
  for (std::size_t k = 0; k < checkpoint.inverse_covariances.size(); ++k)
    put_inverse_covariance(model, formatted("stage{}.", k), checkpoint.inverse_covariances[k]);
  io::write(path, model);
}

template <class Scalar>
Checkpoint<Scalar> read_checkpoint(const std::string& path, std::uint64_t fingerprint) {
  const io::Model model = io::read(std::filesystem::path(path));
  model.require_kind("checkpoint");
  Checkpoint<Scalar> checkpoint;
  std::string found;
  try {
    auto header = nlohmann::json::parse(model.header);
    const Dismantling<nlohmann::json> after(header);
    found = header.at("fingerprint").get<std::string>();
    for (const auto& stage : header.at("stages")) checkpoint.stages.push_back(stage_summary(stage));
  } catch (const nlohmann::json::exception& e) {
    throw Error(
        formatted("{}: the header of the checkpoint is not as expected: {}", path, e.what()));
  }
  if (found != formatted("{:016x}", fingerprint))
    throw Error(
        formatted("{}: this checkpoint belongs to another training (other data, features "
                  "or options); remove it to start anew",
                  path));
  checkpoint.fingerprint = fingerprint;
  checkpoint.states = model.matrix<Scalar>("states");
  checkpoint.maps = get_maps<Scalar>(model, "", static_cast<int>(checkpoint.stages.size()));
  for (std::size_t k = 0; k < checkpoint.maps.size(); ++k) {
    const std::string prefix = formatted("stage{}.", k);
    if (!model.tensors.contains(prefix + "inverse_covariance")) continue;
    // Only the root has them.
    if (model.matrix<double>(prefix + "inverse_covariance").size() == 0)
      checkpoint.inverse_covariances.emplace_back();
    else
      checkpoint.inverse_covariances.push_back(
          get_inverse_covariance(model, prefix, checkpoint.maps[k].feature_size()));
  }
  return checkpoint;
}

template <class Scalar>
CheckpointFiles<Scalar>::CheckpointFiles(const AnyProblem<Scalar>& problem,
                                         const Matrix<Scalar>& starts,
                                         ConstMatrixRef<Scalar> targets,
                                         const TrainOptions& options, Ranks& ranks)
    : path_(options.checkpoint), stages_(options.stages), ranks_(ranks) {
  if (path_.empty()) return;
  delta_size_ = problem.delta_size();
  for (int stage = 0; stage < stages_; ++stage)
    feature_sizes_.push_back(problem.feature_size(stage));
  ranks_.together([&] {
    fingerprint_ = fingerprint<Scalar>(problem, starts, targets, options, ranks_.world());
  });
}

template <class Scalar>
std::string CheckpointFiles<Scalar>::path(Index stage) const {
  if (ranks_.alone()) return path_;
  return formatted("{}.rank{}.stage{}", path_, ranks_.world().rank(), stage);
}

// The fingerprint says that the file belongs here, not that nobody changed it.
template <class Scalar>
void CheckpointFiles<Scalar>::check(const Checkpoint<Scalar>& checkpoint,
                                    const std::string& path) const {
  if (checkpoint.maps.size() > static_cast<std::size_t>(stages_))
    throw Error(formatted("{}: the checkpoint holds {} stages, expected at most {}", path,
                          checkpoint.maps.size(), stages_));
  for (std::size_t k = 0; k < checkpoint.maps.size(); ++k) {
    const DescentMap<Scalar>& map = checkpoint.maps[k];
    if (map.feature_size() != feature_sizes_[k] || map.delta_size() != delta_size_)
      throw Error(
          formatted("{}: the map of stage {} takes {} features to {} values, expected {} "
                    "and {}",
                    path, k, map.feature_size(), map.delta_size(), feature_sizes_[k], delta_size_));
  }
}

template <class Scalar>
void CheckpointFiles<Scalar>::resume(Matrix<Scalar>& states, TrainResult<Scalar>& result) {
  if (path_.empty()) return;
  const auto exists = [](const std::string& path) {
    std::error_code ignored;  // what is there but cannot be looked at fails when it is written
    return std::filesystem::exists(path, ignored);
  };
  Index stage = 0;
  if (ranks_.alone()) {
    stage = exists(path_) ? 1 : 0;
  } else {
    for (Index s = stages_; s > 0 && stage == 0; --s)
      if (exists(path(s))) stage = s;
    stage = ranks_.world().minimum(stage);
  }
  if (stage == 0) return;
  ranks_.together([&] {
    Checkpoint<Scalar> checkpoint = read_checkpoint<Scalar>(path(stage), fingerprint_);
    check(checkpoint, path(stage));
    if (checkpoint.states.rows() != states.rows() || checkpoint.states.cols() != states.cols())
      throw Error(formatted("{}: the checkpoint holds {} states, expected {}", path(stage),
                            checkpoint.states.cols(), states.cols()));
    states = std::move(checkpoint.states);
    result.cascade.maps = std::move(checkpoint.maps);
    result.inverse_covariances = std::move(checkpoint.inverse_covariances);
    result.summary.stages = std::move(checkpoint.stages);
    result.summary.resumed_from = result.cascade.stages();
  });
}

template <class Scalar>
void CheckpointFiles<Scalar>::save(const Matrix<Scalar>& states,
                                   const TrainResult<Scalar>& result) {
  if (path_.empty()) return;
  const Index stage = result.cascade.stages();
  ranks_.together([&] {
    write_checkpoint(path(stage),
                     Checkpoint<Scalar>{fingerprint_, states, result.cascade.maps,
                                        result.inverse_covariances, result.summary.stages});
  });
  std::error_code ignored;  // an old file that stays does no harm
  if (!ranks_.alone() && stage > 1) std::filesystem::remove(path(stage - 1), ignored);
}

#define SDM_INSTANTIATE(Scalar)                                                        \
  template std::uint64_t fingerprint(const AnyProblem<Scalar>&, const Matrix<Scalar>&, \
                                     ConstMatrixRef<Scalar>, const TrainOptions&,      \
                                     const Communicator&);                             \
  template void write_checkpoint(const std::string&, const Checkpoint<Scalar>&);       \
  template Checkpoint<Scalar> read_checkpoint(const std::string&, std::uint64_t);      \
  template class CheckpointFiles<Scalar>;
SDM_INSTANTIATE(float)
SDM_INSTANTIATE(double)
#undef SDM_INSTANTIATE

}  // namespace detail

void remove_checkpoint(const std::string& checkpoint, const Communicator* communicator) {
  std::error_code ignored;
  if (communicator == nullptr || communicator->size() == 1) {
    std::filesystem::remove(checkpoint, ignored);
    return;
  }
  const std::filesystem::path path(checkpoint);
  const std::string mine =
      formatted("{}.rank{}.stage", path.filename().string(), communicator->rank());
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(mine))
      std::filesystem::remove(entry.path(), ignored);
}

}  // namespace sdm
