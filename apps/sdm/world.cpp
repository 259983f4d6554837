#include "apps/sdm/world.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>

#include "apps/sdm/platform.h"
#include "apps/sdm/tell.h"
#include "sdm/base/error.h"
#ifdef SDM_WITH_MPI
#include "sdm/descent/train/mpi_communicator.h"
#endif

namespace sdm::app {
namespace {

// Open MPI's mpirun, MPICH's, Slurm's srun. Asking MPI itself would start it in a process alone.
bool started_by_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

bool is_several(const char* name) {
  const char* size = std::getenv(name);
  return size != nullptr && std::atoi(size) > 1;
}

}  // namespace

World::World() {
  if (!started_by_mpi()) {
    // Tasks may mean to train a model each, so that it is no error.
    if (const char* task = std::getenv("SLURM_PROCID");
        is_several("SLURM_STEP_NUM_TASKS") && task != nullptr && std::atoi(task) == 0)
      tell(
          "sdm: srun has started several tasks that do not know of each other: each trains alone. "
          "`srun --mpi=pmix` lets them train together\n");
    return;
  }
#ifdef SDM_WITH_MPI
  auto world = std::make_unique<MpiCommunicator>();
  local_size_ = world->local_size();
  if (world->rank() > 0) be_quiet();
  communicator_ = std::move(world);
#else
  if (is_several("OMPI_COMM_WORLD_SIZE") || is_several("PMI_SIZE") ||
      is_several("SLURM_STEP_NUM_TASKS"))
    throw Error(
        "mpirun has started several, and this sdm was built without MPI: each would train the "
        "whole and write the same file. The package sdm-mpi has one that shares the work");
#endif
}

World::~World() = default;

std::pair<std::size_t, std::size_t> World::part(std::size_t count) const {
  const auto ranks = static_cast<std::size_t>(size()), own = static_cast<std::size_t>(rank());
  const auto first = [&](std::size_t of) { return (count * of + ranks - 1) / ranks; };
  return {first(own), first(own + 1)};
}

int World::threads(int asked) const {
  if (asked > 0 || communicator_ == nullptr) return asked;
  return std::max(1, std::min(usable_cores(), cores_of_machine() / local_size_));
}

void World::run(const std::function<void()>& work) {
  if (communicator_ == nullptr) return work();
  try {
    work();
  } catch (const AgreedError&) {
    if (is_root()) throw;
#ifdef SDM_WITH_MPI
  } catch (const std::exception& error) {
    tell("sdm: rank {}: {}\n", rank(), error.what());
    static_cast<const MpiCommunicator&>(*communicator_).abort();
#endif
  }
}

void World::together(const std::function<void()>& work) {
  if (communicator_ == nullptr) return work();
  std::string failure;
  try {
    work();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  communicator_->agree(failure);
}

double World::sum(double value) {
  if (communicator_ == nullptr) return value;
  communicator_->sum_to_root(std::span(&value, 1));
  communicator_->broadcast(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

}  // namespace sdm::app
