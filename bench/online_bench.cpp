// An online update of one stage (descent/online.h) of 1,000 features and 136 deltas: ours in place,
// against the same recursive least squares written down with dense matrices, and against one dense
// rank-one update of that size alone.
#include <benchmark/benchmark.h>

#include "bench/ratios.h"
#include "sdm/descent/online.h"

namespace {

using sdm::Index;
using sdm::Matrix;
using sdm::Vector;

constexpr Index kFeatures = 1000, kDeltas = 136;

struct Sample {
  Vector<double> features = Vector<double>::Random(kFeatures),
                 delta = Vector<double>::Random(kDeltas);
};

void ours(benchmark::State& state) {
  sdm::Cascade<double> cascade;
  cascade.state_size = kDeltas;
  cascade.template_known = false;
  cascade.maps.emplace_back(Matrix<double>::Random(kDeltas, kFeatures),
                            Vector<double>::Zero(kDeltas));
  sdm::OnlineCascade<double> online(
      cascade,
      std::vector<Matrix<double>>{1e-3 * Matrix<double>::Identity(kFeatures + 1, kFeatures + 1)});
  const Sample sample;
  for (auto _ : state) online.update_stage(0, sample.features, sample.delta, {.forgetting = 0.999});
}

// The formulas of the paper as they stand there.
void dense(benchmark::State& state) {
  Matrix<double> inverse = 1e-3 * Matrix<double>::Identity(kFeatures + 1, kFeatures + 1);
  Matrix<double> map = Matrix<double>::Random(kDeltas, kFeatures + 1);
  const Sample sample;
  Vector<double> phi = Vector<double>::Ones(kFeatures + 1);
  phi.head(kFeatures) = sample.features;
  for (auto _ : state) {
    const Vector<double> u = inverse * phi;
    const Vector<double> gain = u / (0.999 + phi.dot(u));
    inverse -= u * gain.transpose();
    inverse /= 0.999;
    map += (sample.delta - map * phi) * gain.transpose();
    benchmark::DoNotOptimize(inverse.data());
    benchmark::DoNotOptimize(map.data());
  }
}

void rank_one(benchmark::State& state) {
  Matrix<double> inverse = 1e-3 * Matrix<double>::Identity(kFeatures + 1, kFeatures + 1);
  const Vector<double> u = 1e-9 * Vector<double>::Random(kFeatures + 1);
  for (auto _ : state) {
    inverse.noalias() -= u * u.transpose();
    benchmark::DoNotOptimize(inverse.data());
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("online update of 1000 features/ours", ours);
  benchmark::RegisterBenchmark("online update of 1000 features/dense formulas", dense);
  benchmark::RegisterBenchmark("online update of 1000 features/dense rank one alone", rank_one);
  benchmark::Initialize(&argc, argv);
  sdm::bench::Ratios ratios("ours");
  benchmark::RunSpecifiedBenchmarks(&ratios);
  return 0;
}
