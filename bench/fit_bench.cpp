// Fits per second on one core: learned maps alone, refined, and the solvers that laboratories use
// (Ceres' TinySolver, ceres::Solve, cminpack), on curves that are fitted by the million
// (adapters/peers/fit_cases.h). All start from the same place and have the same analytic
// derivatives; the start is part of the time. How good the answers are is what `sdm reproduce fits`
// tells.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/peers/fit_cases.h"

namespace {

using namespace sdm;
using peers::FitCase;

constexpr Index kFits = 2048;

/// Shows every run, and at the end fits per second and how they compare with TinySolver's. Of
/// repetitions the median counts.
class FitTable : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      const auto rate = run.counters.find("items_per_second");
      if (run.run_type != Run::RT_Iteration || run.error_occurred || rate == run.counters.end())
        continue;
      const std::string& name = run.run_name.function_name;
      const auto slash = name.rfind('/');
      rates_[name.substr(0, slash)][name.substr(slash + 1)].push_back(rate->second.value);
    }
  }

  void Finalize() override {
    std::printf("\n%-12s fits per second (times tiny_solver's)\n", "case");
    for (auto& [name, methods] : rates_) {
      std::printf("%-12s", name.c_str());
      const double tiny = methods.count("tiny_solver") > 0 ? median(methods["tiny_solver"]) : 0;
      for (auto& [method, rates] : methods) {
        const double rate = median(rates);
        std::printf("   %s %.0f", method.c_str(), rate);
        if (tiny > 0 && method != "tiny_solver") std::printf(" (%.2fx)", rate / tiny);
      }
      std::printf("\n");
    }
    expect("gauss5", "sdm", 3e6);
    expect("gauss11", "sdm", 4e5);
    expect("t2", "sdm", 1e6);
    auto& spots = rates_["gauss11"];
    if (spots.count("tiny_solver") > 0 && spots.count("sdm_refined") > 0)
      std::printf(
          "gauss11: sdm_refined is %s than tiny_solver\n",
          median(spots["sdm_refined"]) > median(spots["tiny_solver"]) ? "faster" : "SLOWER");
  }

 private:
  static double median(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
  /// What the design promises of one core of an ordinary server.
  void expect(const char* name, const char* method, double least) {
    const auto found = rates_.find(name);
    if (found == rates_.end() || found->second.count(method) == 0) return;
    const double rate = median(found->second[method]);
    std::printf("%s/%s: %.2f M fits per second, %s %.1f M\n", name, method, rate / 1e6,
                rate >= least ? "at least" : "BELOW", least / 1e6);
  }

  std::map<std::string, std::map<std::string, std::vector<double>>> rates_;
};

template <class Solve>
void add(const FitCase& fit, const std::string& method, Solve solve) {
  std::string name = fit.name;
  std::replace(name.begin(), name.end(), '/', ' ');
  benchmark::RegisterBenchmark((name + "/" + method).c_str(), [=](benchmark::State& state) {
    for (auto _ : state) solve();
    state.SetItemsProcessed(state.iterations() * kFits);
  });
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (!peers::kHaveCeres) std::printf("ceres: not found when this program was built, left out\n");
  if (!peers::kHaveCminpack)
    std::printf("cminpack: not found when this program was built, left out\n");
  std::printf("%s\n", peers::fit_peer_settings().c_str());
  for (const FitCase& fit : peers::fit_cases()) {
    LearnOptions options = fit.learn_options();
    options.threads = 1;
    const auto learned = std::make_shared<const Learned>(learn(fit.h, fit.box, options));
    const auto samples =
        std::make_shared<const peers::FitSamples>(peers::draw_fits(fit, kFits, 1, 2));
    for (const auto& [method, when] :
         {std::pair{"sdm", RefineWhen::kNever}, {"sdm_refined", RefineWhen::kAlways}}) {
      LearnedSolveOptions solve_options;
      solve_options.refine = when;
      solve_options.refine_options.cost_tolerance = 1e-6;  // as the peers have it
      add(fit, method, [=] {
        benchmark::DoNotOptimize(learned->solve_batch(samples->y, solve_options).x.data());
      });
    }
    for (const peers::FitPeer& peer : fit.peers)
      add(fit, peer.name, [=, start = fit.start_on(samples->y)] {
        peers::FitAnswers answers;
        peer.solve(samples->y, start, answers);
        benchmark::DoNotOptimize(answers.x.data());
      });
  }
  FitTable table;
  benchmark::RunSpecifiedBenchmarks(&table);
}
