// usage: mpi_train MODEL [CHECKPOINT [STAGE RANK]]
// Trains a small problem over the ranks of its MPI job, each with a contiguous shard of the
// samples, and writes the cascade. With STAGE and RANK that rank dies when it has seen that stage
// begin.

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>

#include "sdm/base/error.h"
#include "sdm/descent/train/mpi_communicator.h"
#include "sdm/descent/train/train.h"
#include "sdm/io/file.h"

namespace {

using sdm::Index;

// y unknown; the samples are the same whatever the number of ranks.
struct Shard {
  using Scalar = double;
  Index first, count;

  static constexpr Index kTotal = 400;
  static sdm::Vector<double> draw(Index sample, unsigned salt) {
    std::mt19937 random(static_cast<unsigned>(sample) * 31 + salt);
    std::normal_distribution<double> normal;
    return sdm::Vector<double>::NullaryExpr(3, [&] { return normal(random); });
  }

  Index samples() const { return count; }
  Index state_size() const { return 3; }
  Index feature_size(int) const { return 20; }
  bool template_known() const { return false; }
  Index group(Index i) const { return (first + i) / 2; }
  void features(Index i, int, const Eigen::Ref<const sdm::Vector<double>>& x,
                Eigen::Ref<sdm::Vector<double>> out) const {
    const sdm::Vector<double> target = draw(first + i, 1);
    for (Index k = 0; k < out.size(); ++k) {
      const double w = 0.3 * static_cast<double>(k + 1);
      out[k] = 2 + std::sin(w * (x[k % 3] - target[k % 3])) + 0.1 * target[(k + 1) % 3];
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  sdm::MpiCommunicator world;
  try {
    const Index size = world.size(), rank = world.rank();
    Shard shard{Shard::kTotal * rank / size, 0};
    shard.count = Shard::kTotal * (rank + 1) / size - shard.first;
    sdm::TrainObserver observer;
    if (argc > 4 && std::atoi(argv[4]) == world.rank())
      observer.progress = [&](const sdm::TrainProgress& at) {
        if (at.stage == std::atoi(argv[3])) std::raise(SIGKILL);
      };
    sdm::Matrix<double> starts(3, shard.count), targets(3, shard.count);
    for (Index i = 0; i < shard.count; ++i) {
      targets.col(i) = Shard::draw(shard.first + i, 1);
      starts.col(i) = targets.col(i) + Shard::draw(shard.first + i, 2);
    }
    sdm::TrainOptions options;
    options.folds = 3;
    options.penalty = sdm::Penalty::held_out({1e-4, 1e-2, 1});
    options.threads = 1;
    options.communicator = &world;
    if (argc > 2) options.checkpoint = argv[2];
    const auto result = sdm::train(shard, starts, targets, options, observer);
    if (world.rank() == 0) {
      result.cascade.save(argv[1]);
      std::cout << "resumed from stage " << result.summary.resumed_from << "; "
                << result.summary.brief_report() << '\n';
    }
    return 0;
  } catch (const sdm::Error& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
