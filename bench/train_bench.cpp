// Training speed and memory: ours against (a) the same least squares with the data matrix stored
// and Eigen's LU, the way superviseddescent does it, and (b) what OpenBLAS itself reaches on the
// same shapes. Every figure is of a fresh child process, so that peak memory is its own.
//
// usage: train_bench [--large]     --large adds the 8,705 features of a 68-point face

#include <cblas.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Eigen/LU>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "sdm/descent/train/train.h"
#include "sdm/linear/normal_equations.h"

namespace {

using sdm::Index;
using Clock = std::chrono::steady_clock;

constexpr Index kDeltas = 136;

double seconds(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Features that cost next to nothing, so that the figure is the engine's: a random walk through a
// table, moved by the state.
struct CheapProblem {
  using Scalar = float;
  Index count, size;
  std::vector<float> table;

  CheapProblem(Index samples, Index features) : count(samples), size(features), table(1 << 16) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (float& value : table) value = normal(random);
    table.insert(table.end(), table.begin(), table.end());
  }
  Index samples() const { return count; }
  Index state_size() const { return kDeltas; }
  Index feature_size(int) const { return size; }
  bool template_known() const { return false; }
  void features(Index sample, int, const Eigen::Ref<const sdm::Vector<float>>& x,
                Eigen::Ref<sdm::Vector<float>> out) const {
    const std::size_t place = static_cast<std::size_t>(sample) * 7919 % (1 << 15);
    std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(place), size, out.data());
    out.head(std::min(size, kDeltas)) += x.head(std::min(size, kDeltas));
  }
};

struct Figures {
  double seconds = 0, megabytes = 0;
};

// Runs `work` in a child and gives its time and its peak memory above that of an idle child.
Figures in_child(const std::function<double()>& work) {
  const auto measure = [&](const std::function<double()>& job) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    const pid_t child = fork();
    if (child == 0) {
      Figures figures;
      figures.seconds = job();
      rusage usage{};
      getrusage(RUSAGE_SELF, &usage);
      figures.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
      const bool sent = write(ends[1], &figures, sizeof(figures)) == sizeof(figures);
      _exit(sent ? 0 : 1);
    }
    Figures figures;
    close(ends[1]);
    const bool read_all = read(ends[0], &figures, sizeof(figures)) == sizeof(figures);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    if (!read_all) throw std::runtime_error("a measurement died");
    return figures;
  };
  const Figures idle = measure([] { return 0.0; });
  Figures figures = measure(work);
  figures.megabytes -= idle.megabytes;
  return figures;
}

Figures ours(Index samples, Index features, int folds) {
  return in_child([=] {
    const CheapProblem problem(samples, features);
    const sdm::Matrix<float> starts = sdm::Matrix<float>::Random(kDeltas, samples);
    const sdm::Matrix<float> targets = sdm::Matrix<float>::Zero(kDeltas, 1);
    sdm::TrainOptions options;
    options.stages = 1;
    options.folds = folds;
    options.penalty = sdm::Penalty::relative(1e-2);
    options.feature_memory = 0;  // these features cost nothing to evaluate again
    return seconds([&] { sdm::train(problem, starts, targets, options); });
  });
}

// The data matrix stored, A^T A formed, LU with partial pivoting.
Figures stored_lu(Index samples, Index features) {
  return in_child([=] {
    const CheapProblem problem(samples, features);
    const sdm::Matrix<float> starts = sdm::Matrix<float>::Random(kDeltas, samples);
    return seconds([&] {
      sdm::Matrix<float> data(samples, features), solution;
      sdm::Vector<float> one(features);
      for (Index i = 0; i < samples; ++i) {
        problem.features(i, 0, starts.col(i), one);
        data.row(i) = one;
      }
      sdm::Matrix<float> gram = data.transpose() * data;
      gram.diagonal().array() += 1e-2F * gram.trace() / static_cast<float>(features);
      solution = gram.partialPivLu().solve(data.transpose() * starts.transpose());
      if (!solution.allFinite()) throw std::runtime_error("not finite");
    });
  });
}

// Best of three, billions of additions and multiplications a second.
double ours_rate(Index features, Index chunk) {
  sdm::ThreadPool pool;  // holds OpenBLAS to one thread
  sdm::linear::SymmetricTiles<float> gram(features);
  const sdm::Matrix<float> columns = sdm::Matrix<float>::Random(features, chunk);
  double best = 1e9;
  for (int i = 0; i < 4; ++i)
    best = std::min(best, seconds([&] { gram.add_outer(columns, pool); }));
  return static_cast<double>(features) * static_cast<double>(features) *
         static_cast<double>(chunk) / best / 1e9;
}

double openblas_rate(Index features, Index chunk) {
  const int threads = sdm::ThreadPool().threads();
  openblas_set_num_threads(threads);  // after the pool, which gives back the number it found
  sdm::Matrix<float> gram = sdm::Matrix<float>::Zero(features, features);
  const sdm::Matrix<float> columns = sdm::Matrix<float>::Random(features, chunk);
  double best = 1e9;
  for (int i = 0; i < 4; ++i)
    best = std::min(best, seconds([&] {
                      cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans,
                                  static_cast<int>(features), static_cast<int>(chunk), 1.0F,
                                  columns.data(), static_cast<int>(features), 1.0F, gram.data(),
                                  static_cast<int>(features));
                    }));
  return static_cast<double>(features) * static_cast<double>(features) *
         static_cast<double>(chunk) / best / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  const bool large = argc > 1 && std::strcmp(argv[1], "--large") == 0;

  fmt::print("One stage, {} deltas, {} threads.\n\n", kDeltas, sdm::ThreadPool().threads());
  fmt::print("growth with samples (1,000 features)\n{:>9} {:>14} {:>9} {:>18} {:>12} {:>8}\n",
             "samples", "ours samples/s", "ours MB", "stored+LU samp./s", "stored+LU MB", "ratio");
  for (const Index samples : {4000, 8000, 16000, 32000}) {
    const Figures a = ours(samples, 1000, 1), b = stored_lu(samples, 1000);
    const double n = static_cast<double>(samples);
    fmt::print("{:>9} {:>14.0f} {:>9.0f} {:>18.0f} {:>12.0f} {:>7.1f}x\n", samples, n / a.seconds,
               a.megabytes, n / b.seconds, b.megabytes, b.seconds / a.seconds);
  }
  fmt::print("\ngrowth with features (8,000 samples)\n{:>9} {:>14} {:>9} {:>18} {:>12} {:>8}\n",
             "features", "ours samples/s", "ours MB", "stored+LU samp./s", "stored+LU MB", "ratio");
  for (const Index features : {500, 1000, 2000, 4000}) {
    const Figures a = ours(8000, features, 1), b = stored_lu(8000, features);
    fmt::print("{:>9} {:>14.0f} {:>9.0f} {:>18.0f} {:>12.0f} {:>7.1f}x\n", features,
               8000 / a.seconds, a.megabytes, 8000 / b.seconds, b.megabytes, b.seconds / a.seconds);
  }
  std::vector<Index> sizes{1000, 2000, 4000};
  if (large) sizes.push_back(8705);
  fmt::print(
      "\naccumulation against OpenBLAS ssyrk (chunks of 963 samples)\n{:>9} {:>12} {:>12} {:>7}\n",
      "features", "ours Gflop/s", "ssyrk Gflop/s", "share");
  for (const Index features : sizes) {
    const double a = ours_rate(features, 963), b = openblas_rate(features, 963);
    fmt::print("{:>9} {:>12.0f} {:>13.0f} {:>6.0f}%\n", features, a, b, 100 * a / b);
  }
  if (large) {
    fmt::print("\n8,705 features, peak memory\n{:>9} {:>6} {:>9} {:>9}\n", "samples", "folds",
               "seconds", "MB");
    for (const Index samples : {9000, 18000})
      for (const int folds : {1, 4}) {
        const Figures a = ours(samples, 8705, folds);
        fmt::print("{:>9} {:>6} {:>9.1f} {:>9.0f}\n", samples, folds, a.seconds, a.megabytes);
      }
  }
  return 0;
}
