#include <gtest/gtest.h>

#include <atomic>

#include "sdm/descent/train/train_partition.h"
#include "tests/descent/problems.h"

namespace sdm {
namespace {

// A function that counts how often it is asked, and examples of it.
struct Counting {
  Tanh<double> tanh{3, 10, 1};
  Matrix<double> targets = random_matrix<double>(3, 600, 4), measured{10, 600};
  mutable std::atomic<Index> evaluations{0};

  Counting() {
    for (Index i = 0; i < 600; ++i) measured.col(i) = tanh(targets.col(i));
  }
  void operator()(ConstVectorRef<double> x, VectorRef<double> out) const {
    ++evaluations;
    out = tanh(x);
  }
  auto problem() const { return function_problem(std::cref(*this), targets, measured); }
};

struct Counted {
  TrainResult<double> trained;
  Index evaluations;
};

Counted trained(const Matrix<double>& starts, TrainOptions options,
                const TrainObserver& observer = {}) {
  const Counting h;
  options.stages = 5;
  auto result = train(h, starts, h.targets, h.measured, options, observer);
  return {std::move(result), h.evaluations};
}

const Matrix<double> kOneStart = Matrix<double>::Constant(3, 1, 0.1);

TEST(Evaluations, AreOneForTheCommonStartAndOneASampleInEveryFurtherStage) {
  TrainObserver watching;
  watching.estimate = [](const TrainEstimate&) {};
  watching.progress = [](const TrainProgress&) {};
  for (const int threads : {1, 3}) {
    TrainOptions options;
    options.threads = threads;
    EXPECT_EQ(trained(kOneStart, options).evaluations, 4 * 600 + 1);
    EXPECT_EQ(trained(kOneStart, options, watching).evaluations, 4 * 600 + 1);
    options.folds = 4;
    options.penalty = Penalty::held_out();
    EXPECT_EQ(trained(kOneStart, options, watching).evaluations, 4 * 600 + 1);
    EXPECT_EQ(trained(kOneStart.replicate(1, 600), options).evaluations, 4 * 600 + 1);
    EXPECT_EQ(trained(random_matrix<double>(3, 600, 9), options).evaluations, 5 * 600);
  }
}

TEST(Evaluations, AreOneASampleAndStageForAnUnknownTemplateToo) {
  std::atomic<Index> evaluations = 0;
  const Counting h;
  const auto returning = [&](ConstVectorRef<double> x) {
    ++evaluations;
    return h.tanh(x);
  };
  train(returning, random_matrix<double>(3, 600, 9), Matrix<double>(h.targets.col(0)));
  EXPECT_EQ(evaluations, 4 * 600 + 1);  // one more, to see how many values it returns
}

TEST(Evaluations, AreTwoASampleWhereFeaturesDoNotFitInMemoryAndTheBitsAreTheSame) {
  for (const int threads : {1, 3}) {
    TrainOptions options;
    options.threads = threads;
    options.folds = 3;
    const Counted whole = trained(kOneStart, options);
    options.feature_memory = 200 * 10 * sizeof(double);
    const Counted part = trained(kOneStart, options);
    options.feature_memory = 0;
    const Counted none = trained(kOneStart, options);
    EXPECT_EQ(part.evaluations, 4 * (600 + 400) + 1);
    EXPECT_EQ(none.evaluations, 4 * 2 * 600 + 1);
    EXPECT_TRUE(same_bits(whole.trained.cascade, part.trained.cascade));
    EXPECT_TRUE(same_bits(whole.trained.cascade, none.trained.cascade));
  }
}

// The same function behind a problem that says nothing of it: every sample is evaluated.
struct Opaque {
  using Scalar = double;
  const Counting& h;
  Index samples() const { return 600; }
  Index state_size() const { return 3; }
  Index feature_size(int) const { return 10; }
  bool template_known() const { return true; }
  void features(Index i, int, ConstVectorRef<double> x, VectorRef<double> out) const {
    h(x, out);
    out -= h.measured.col(i);
  }
};

TEST(Evaluations, OfACommonStartGiveTheBitsThatOneForEachSampleGives) {
  const Counting h;
  TrainOptions options;
  options.stages = 5;
  options.folds = 3;
  const auto opaque = train(Opaque{h}, kOneStart, h.targets, options);
  EXPECT_EQ(h.evaluations, 5 * 600);
  EXPECT_TRUE(same_bits(opaque.cascade, trained(kOneStart, options).trained.cascade));
}

TEST(Evaluations, OfAGridAreOneForTheCentreOfEachCell) {
  const Counting h;
  Grid grid;
  grid.lower = Vector<double>::Constant(3, -4);
  grid.upper = Vector<double>::Constant(3, 4);
  grid.cells = {2, 1, 1};
  TrainOptions options;
  options.stages = 3;
  train_grid(h.problem(), h.targets, grid, options);
  EXPECT_EQ(h.evaluations, 2 * 600 + 2);
}

}  // namespace
}  // namespace sdm
