#include "sdm/descent/train/mpi_communicator.h"

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace sdm {
namespace {

// MPI counts are ints, and a receiving rank needs a buffer of this size only.
constexpr std::size_t kBlock = std::size_t{1} << 22;

// A binary tree over the ranks: who adds whom in which order depends on the number of ranks alone.
template <class Scalar>
void tree_sum(std::span<Scalar> numbers, int rank, int size, MPI_Datatype type) {
  std::vector<Scalar> received(std::min(kBlock, numbers.size()));
  for (std::size_t first = 0; first < numbers.size(); first += kBlock) {
    const std::span<Scalar> block =
        numbers.subspan(first, std::min(kBlock, numbers.size() - first));
    const int count = static_cast<int>(block.size());
    for (int step = 1; step < size; step *= 2) {
      if (rank % (2 * step) == step) {
        MPI_Send(block.data(), count, type, rank - step, 0, MPI_COMM_WORLD);
        break;
      }
      if (rank + step < size) {
        MPI_Recv(received.data(), count, type, rank + step, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (std::size_t i = 0; i < block.size(); ++i) block[i] += received[i];
      }
    }
  }
}

}  // namespace

MpiCommunicator::MpiCommunicator() {
  int running = 0;
  MPI_Initialized(&running);
  if (running == 0) {
    // Only the thread that trains talks to the other ranks.
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    started_ = true;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

int MpiCommunicator::local_size() const {
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here);
  int size = 1;
  MPI_Comm_size(here, &size);
  MPI_Comm_free(&here);
  return size;
}

void MpiCommunicator::abort() const {
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

MpiCommunicator::~MpiCommunicator() {
  if (started_) MPI_Finalize();
}

void MpiCommunicator::sum_to_root(std::span<float> numbers) {
  tree_sum(numbers, rank_, size_, MPI_FLOAT);
}

void MpiCommunicator::sum_to_root(std::span<double> numbers) {
  tree_sum(numbers, rank_, size_, MPI_DOUBLE);
}

void MpiCommunicator::broadcast(std::span<std::byte> bytes) {
  for (std::size_t first = 0; first < bytes.size(); first += kBlock)
    MPI_Bcast(bytes.data() + first, static_cast<int>(std::min(kBlock, bytes.size() - first)),
              MPI_BYTE, 0, MPI_COMM_WORLD);
}

Index MpiCommunicator::maximum(Index value) {
  long long own = value, largest = 0;
  MPI_Allreduce(&own, &largest, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  return static_cast<Index>(largest);
}

}  // namespace sdm
