#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "sdm/descent/train/train.h"
#include "sdm/linear/normal_equations.h"
#include "tests/descent/problems.h"
#include "tests/sanitized.h"

namespace sdm {
namespace {

TEST(Observer, HearsTheEstimateFirstThenProgressThenStagesInOrder) {
  const TanhProblem<float> problem(4, 30, 700, false, 1);
  TrainOptions options;
  options.stages = 3;
  options.folds = 2;
  options.chunk = 100;
  options.threads = 1;
  int estimates = 0, stages = 0;
  TrainProgress last;
  std::string activities;
  TrainObserver observer;
  observer.estimate = [&](const TrainEstimate& e) {
    ++estimates;
    EXPECT_EQ(last.samples, 0);
    EXPECT_GT(e.bytes, 0);
    EXPECT_GT(e.seconds, 0);
    EXPECT_TRUE(std::isfinite(e.seconds));
  };
  observer.progress = [&](const TrainProgress& p) {
    EXPECT_EQ(estimates, 1);
    EXPECT_EQ(p.stage, stages);
    EXPECT_EQ(p.stages, 3);
    EXPECT_EQ(p.samples, 700);
    EXPECT_LE(p.samples_done, 700);
    EXPECT_TRUE(std::isfinite(p.seconds_left));
    EXPECT_GE(p.seconds_left, 0);
    if (p.activity == std::string(last.activity)) {
      EXPECT_GT(p.samples_done, last.samples_done);
    } else {
      if (last.activity != std::string("") && last.activity != std::string("solving")) {
        EXPECT_EQ(last.samples_done, 700);
      }
      activities += p.activity[0];
    }
    last = p;
  };
  observer.stage = [&](const StageSummary& s) {
    EXPECT_EQ(s.stage, stages++);
    EXPECT_GE(s.seconds, 0);
    EXPECT_EQ(s.features, 30);
  };
  const auto result = problem.train(options, observer);
  EXPECT_EQ(estimates, 1);
  EXPECT_EQ(stages, 3);
  EXPECT_EQ(activities, "asaasaasa");  // accumulating, solving, advancing
  EXPECT_EQ(last.samples_done, 700);
  EXPECT_LT(last.seconds_left, 1e-3);
  EXPECT_EQ(result.summary.stages.size(), 3U);
}

TEST(Observer, HearsAnEstimateThatFollowsTheNormalEquations) {
  const TanhProblem<float> problem(4, 600, 650, false, 1);
  TrainOptions options;
  options.stages = 1;
  options.folds = 3;
  options.penalty = Penalty::relative(0.01);
  double bytes = 0;
  TrainObserver observer;
  observer.estimate = [&](const TrainEstimate& e) { bytes = e.bytes; };
  problem.train(options, observer);
  const double equations = 3 * linear::NormalEquations<float>::bytes(600, 4);
  EXPECT_GT(bytes, equations);
  EXPECT_LT(bytes, 3 * equations);
}

TEST(Observer, MayBeEmpty) {
  EXPECT_NO_THROW((TanhProblem<double>(2, 5, 20, true, 1).train({}, {})));
}

TEST(TrainSummary, TellsInWordsWhatHappened) {
  const auto summary = TanhProblem<double>(2, 5, 20, true, 1).train({}).summary;
  EXPECT_NE(summary.brief_report().find("20 samples, 4 stages"), std::string::npos);
  const std::string full = summary.full_report();
  EXPECT_EQ(std::count(full.begin(), full.end(), '\n'), 6);
  EXPECT_EQ(TrainSummary().brief_report(), "no stages");
}

double peak_bytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

// Cheap features, so that the test is about memory.
struct Wide {
  using Scalar = float;
  Index samples() const { return 40000; }
  Index state_size() const { return 2; }
  Index feature_size(int) const { return 600; }
  bool template_known() const { return false; }
  void features(Index i, int, ConstVectorRef<float> x, VectorRef<float> out) const {
    auto state = static_cast<unsigned>(i) * 2654435761U + 1;
    for (Index k = 0; k < 600; ++k) {
      state = state * 1664525U + 1013904223U;
      out[k] = static_cast<float>(state >> 8) * 1e-7F + x[k % 2];
    }
  }
};

TEST(Memory, StaysFarBelowADataMatrixThatMayNotBeKept) {
  if (SDM_SANITIZED) GTEST_SKIP() << "a sanitizer needs memory of its own";
  const pid_t child = fork();
  if (child == 0) {
    const Matrix<float> starts = Matrix<float>::Zero(2, 1),
                        targets = random_matrix<float>(2, 40000, 1);
    TrainOptions options;
    options.stages = 1;
    options.folds = 2;
    options.threads = 2;
    options.feature_memory = 4e6;
    double estimate = 0;
    TrainObserver observer;
    observer.estimate = [&](const TrainEstimate& e) { estimate = e.bytes; };
    const double before = peak_bytes();
    train(Wide(), starts, targets, options, observer);
    const double grown = peak_bytes() - before, matrix = 4.0 * 600 * 40000;
    if (grown > 0.5 * matrix) _exit(1);
    _exit(grown < 3 * estimate && grown > estimate / 3 ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_NE(WEXITSTATUS(status), 1) << "grew by more than half of the data matrix";
  EXPECT_NE(WEXITSTATUS(status), 2) << "the estimate is off by more than a factor of 3";
}

}  // namespace
}  // namespace sdm
