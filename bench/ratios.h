#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sdm::bench {

/// Shows every run as Google Benchmark does and gives the ratios at the end: for each case the time
/// of `ours`, and how many times as long every other method takes. Benchmarks are named
/// CASE/METHOD; one that processes several items (SetItemsProcessed) counts for each of them. Of
/// repetitions the fastest counts.
class Ratios : public benchmark::ConsoleReporter {
 public:
  explicit Ratios(std::string ours) : ours_(std::move(ours)) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      const std::string& name = run.run_name.function_name;
      const auto slash = name.find('/');
      const double us = microseconds(run);
      double& best =
          times_[name.substr(0, slash)].try_emplace(name.substr(slash + 1), us).first->second;
      best = std::min(best, us);
    }
  }

  void Finalize() override {
    std::printf("\n%-36s %12s   others, times as long\n", "case", (ours_ + " us").c_str());
    for (const auto& [name, methods] : times_) {
      const auto own = methods.find(ours_);
      if (own == methods.end()) continue;
      std::printf("%-36s %12.3f", name.c_str(), own->second);
      for (const auto& [method, us] : methods)
        if (method != ours_) std::printf("   %s %.2fx", method.c_str(), us / own->second);
      std::printf("\n");
    }
  }

 private:
  static double microseconds(const Run& run) {
    const auto rate = run.counters.find("items_per_second");
    if (rate != run.counters.end()) return 1e6 / rate->second.value;
    const double all = run.run_name.time_type == "real_time" ? run.real_accumulated_time
                                                             : run.cpu_accumulated_time;
    return 1e6 * all / static_cast<double>(std::max<benchmark::IterationCount>(run.iterations, 1));
  }

  std::string ours_;
  std::map<std::string, std::map<std::string, double>> times_;  // us, by case and method
};

}  // namespace sdm::bench
