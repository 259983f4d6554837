#pragma once

#include "sdm/descent/train/communicator.h"

namespace sdm {

/// All processes of an MPI job (built with SDM_MPI). Each rank calls `train` with its own shard of
/// the samples as its problem; groups are numbered across all ranks.
///
/// Starts MPI if nobody has, and then ends it on destruction. If a rank dies, mpirun ends the job;
/// run it again with the same checkpoint and it goes on from the last stage that all ranks had
/// written.
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator();
  ~MpiCommunicator() override;
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  /// Ranks on this machine.
  int local_size() const;
  /// Ends all ranks at once, for an error that the others do not know of.
  [[noreturn]] void abort() const;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void sum_to_root(std::span<float> numbers) override;
  void sum_to_root(std::span<double> numbers) override;
  void broadcast(std::span<std::byte> bytes) override;
  Index maximum(Index value) override;

 private:
  int rank_ = 0, size_ = 1;
  bool started_ = false;
};

}  // namespace sdm
