#include "descent/checkpoint.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sdm/error.h"
#include "sdm/io/file.h"

namespace sdm {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageSummary, stage, error_before, error_after, penalty,
                                   penalty_factor, features, components, rank, dual, seconds)

namespace detail {

template <class Scalar>
void write_checkpoint(const std::string& path, const Checkpoint<Scalar>& checkpoint) {
  io::Model model;
  model.kind = "checkpoint";
  model.header = nlohmann::json{{"fingerprint", fmt::format("{:016x}", checkpoint.fingerprint)},
                                {"stages", checkpoint.stages}}
                     .dump();
  model.put("states", io::to_tensor(checkpoint.states));
  put_maps(model, checkpoint.maps);
  for (std::size_t k = 0; k < checkpoint.inverse_covariances.size(); ++k)
    model.put(fmt::format("stage{}.inverse_covariance", k),
              io::to_tensor(checkpoint.inverse_covariances[k]));
  io::write(path, model);
}

template <class Scalar>
Checkpoint<Scalar> read_checkpoint(const std::string& path, std::uint64_t fingerprint) {
  const io::Model model = io::read(std::filesystem::path(path));
  model.require_kind("checkpoint");
  Checkpoint<Scalar> checkpoint;
  std::string found;
  try {
    const auto header = nlohmann::json::parse(model.header);
    found = header.at("fingerprint").get<std::string>();
    checkpoint.stages = header.at("stages").get<std::vector<StageSummary>>();
  } catch (const nlohmann::json::exception& e) {
    throw Error(
        fmt::format("{}: the header of the checkpoint is not as expected: {}", path, e.what()));
  }
  if (found != fmt::format("{:016x}", fingerprint))
    throw Error(
        fmt::format("{}: this checkpoint belongs to another training (other data or options); "
                    "remove it to start anew",
                    path));
  checkpoint.fingerprint = fingerprint;
  checkpoint.states = model.matrix<Scalar>("states");
  checkpoint.maps = get_maps<Scalar>(model, static_cast<int>(checkpoint.stages.size()));
  for (std::size_t k = 0; k < checkpoint.maps.size(); ++k) {
    const std::string name = fmt::format("stage{}.inverse_covariance", k);
    if (model.tensors.contains(name))
      checkpoint.inverse_covariances.push_back(model.matrix<Scalar>(name));
  }
  return checkpoint;
}

#define SDM_INSTANTIATE(Scalar)                                                  \
  template void write_checkpoint(const std::string&, const Checkpoint<Scalar>&); \
  template Checkpoint<Scalar> read_checkpoint(const std::string&, std::uint64_t);
SDM_INSTANTIATE(float)
SDM_INSTANTIATE(double)
#undef SDM_INSTANTIATE

}  // namespace detail
}  // namespace sdm
