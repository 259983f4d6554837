#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "sdm/descent/train/communicator.h"

namespace sdm::app {

/// The processes that train together where mpirun or srun has started several; else this one alone.
/// Only the root speaks. Made before anything else is done.
class World {
 public:
  /// Throws Error where there are several and this program was built without MPI.
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Communicator* communicator() const { return communicator_.get(); }  // null: alone
  int rank() const { return communicator_ ? communicator_->rank() : 0; }
  int size() const { return communicator_ ? communicator_->size() : 1; }
  bool is_root() const { return rank() == 0; }

  /// This rank's part of so many items, [first, last): of one or more the root has one.
  std::pair<std::size_t, std::size_t> part(std::size_t count) const;

  /// So many as were asked for; for 0 as many as there are cores for each rank of this machine.
  int threads(int asked) const;

  /// Does the work of a command. An error that all ranks know of goes on from the root, and the
  /// others end quietly; one that only this rank knows of ends all of them, with one message.
  void run(const std::function<void()>& work);

  /// Runs something on every rank; if it fails on one, all of them throw.
  void together(const std::function<void()>& work);

  double sum(double value);

 private:
  std::unique_ptr<Communicator> communicator_;
  int local_size_ = 1;
};

}  // namespace sdm::app
