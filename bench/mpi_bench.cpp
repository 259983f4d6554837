// One training on the ranks that mpirun has started; bench/mpi.py starts it and makes tables of
// what the root prints.
//
//   mpi_bench SAMPLES FEATURES DELTAS FOLDS SLEEP
//
// SAMPLES in all. SLEEP microseconds are slept for every feature vector in place of work, so that
// many more ranks than cores can be played with real messages.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "sdm/base/random.h"
#include "sdm/descent/train/mpi_communicator.h"
#include "sdm/descent/train/train.h"

namespace {

using sdm::Index;

/// Counts what this rank hands to the network. In the tree of sums every rank but the root sends
/// its numbers once.
class Counting final : public sdm::Communicator {
 public:
  explicit Counting(sdm::Communicator& world) : world_(world) {}
  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }
  void sum_to_root(std::span<float> numbers) override { sum(numbers); }
  void sum_to_root(std::span<double> numbers) override { sum(numbers); }
  void broadcast(std::span<std::byte> bytes) override {
    told += static_cast<double>(bytes.size());
    world_.broadcast(bytes);
  }
  Index maximum(Index value) override { return world_.maximum(value); }

  double sent = 0, told = 0;  // towards the root, and by it to each of the others

 private:
  template <class Number>
  void sum(std::span<Number> numbers) {
    if (size() > 1) sent += static_cast<double>(numbers.size_bytes());
    world_.sum_to_root(numbers);
  }
  sdm::Communicator& world_;
};

struct Shard {
  using Scalar = float;
  Index first, count, features_size, deltas;
  int sleep;
  sdm::Matrix<float> mixing;

  Index samples() const { return count; }
  Index state_size() const { return deltas; }
  Index feature_size(int) const { return features_size; }
  bool template_known() const { return false; }
  Index group(Index i) const { return first + i; }
  void features(Index, int, sdm::ConstVectorRef<float> x, sdm::VectorRef<float> out) const {
    if (sleep > 0) std::this_thread::sleep_for(std::chrono::microseconds(sleep));
    out = (mixing * x).array().tanh();
  }
};

void draw(sdm::Random random, sdm::VectorRef<float> out) {
  for (float& value : out) value = static_cast<float>(random.normal());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  sdm::MpiCommunicator mpi;
  Counting world(mpi);
  const Index samples = std::atol(argv[1]), rank = world.rank(), size = world.size();
  Shard shard{samples * rank / size, 0, std::atol(argv[2]), std::atol(argv[3]),
              std::atoi(argv[5]),    {}};
  shard.count = samples * (rank + 1) / size - shard.first;
  shard.mixing.resize(shard.features_size, shard.deltas);
  for (Index c = 0; c < shard.deltas; ++c)
    draw(sdm::Random(1, "mixing", static_cast<std::uint64_t>(c)), shard.mixing.col(c));
  sdm::Matrix<float> starts(shard.deltas, shard.count), targets = starts;
  for (Index i = 0; i < shard.count; ++i) {
    draw(sdm::Random(1, "targets", static_cast<std::uint64_t>(shard.first + i)), targets.col(i));
    draw(sdm::Random(1, "starts", static_cast<std::uint64_t>(shard.first + i)), starts.col(i));
    starts.col(i) = targets.col(i) + 0.3F * starts.col(i);
  }
  sdm::TrainOptions options;
  options.stages = 3;
  options.folds = std::atoi(argv[4]);
  options.threads = 1;
  options.communicator = &world;
  // What crosses before the first stage, such as which samples are held out together, is not a
  // stage's.
  double sent_before = 0, told_before = 0, seconds = 0;
  sdm::TrainObserver observer;
  observer.stage = [&](const sdm::StageSummary& stage) {
    seconds = stage.stage == 1 ? stage.seconds : seconds;
    if (stage.stage == 0) sent_before = world.sent, told_before = world.told;
    if (stage.stage == 1) {
      world.sent -= sent_before;
      world.told -= told_before;
      sent_before = world.sent;
      told_before = world.told;
    }
  };
  const auto result = sdm::train(shard, starts, targets, options, observer);
  // Every rank but the root sends the same; the root counts its own calls alike.
  if (rank == 0)
    fmt::print(
        "{{\"ranks\": {}, \"samples\": {}, \"seconds\": {}, \"sent\": {}, \"told\": {}, \"error\": "
        "{}}}\n",
        size, samples, seconds, sent_before, told_before, result.summary.stages.back().error_after);
  return 0;
}
