#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

#include "sdm/descent/train/learn.h"
#include "tests/descent/problems.h"
#include "tests/descent/train/two_ranks.h"

namespace sdm {
namespace {

struct Listening : TanhProblem<double> {
  using TanhProblem::TanhProblem;
  std::function<void()> on_learned;
  void learned(int, const DescentMap<double>&) const {
    if (on_learned) on_learned();
  }
};

// What each rank's training ends with, when `prepare` has made rank 1 fail somewhere.
std::array<std::string, 2> failures(
    const std::function<void(Listening& problem, TrainObserver& observer)>& prepare) {
  return run_two_ranks([&](Communicator& world) {
    Listening problem(3, 6, 40, false, 1);
    TrainObserver observer;
    if (world.rank() == 1) prepare(problem, observer);
    TrainOptions options;
    options.threads = 1;
    options.communicator = &world;
    train(problem, problem.starts, problem.targets, options, observer);
  });
}

TEST(Ranks, EndTogetherWhereverOneOfThemFails) {
  const std::array<std::string, 2> expected{"rank 1: no room", "no room"};
  const auto fail = [](const auto&...) { throw std::runtime_error("no room"); };
  EXPECT_EQ(failures([&](Listening& p, TrainObserver&) { p.on_learned = fail; }), expected);
  EXPECT_EQ(failures([&](Listening&, TrainObserver& o) { o.estimate = fail; }), expected);
  EXPECT_EQ(failures([&](Listening&, TrainObserver& o) { o.progress = fail; }), expected);
  EXPECT_EQ(failures([&](Listening&, TrainObserver& o) { o.stage = fail; }), expected);
  const auto only_solving = [&](const TrainProgress& at) {
    if (at.activity == std::string("solving")) fail();
  };
  EXPECT_EQ(failures([&](Listening&, TrainObserver& o) { o.progress = only_solving; }), expected);
  EXPECT_EQ(failures([](Listening&, TrainObserver&) {}), (std::array<std::string, 2>{}));
}

TEST(Ranks, OneWithoutSamplesDoesNotStopTheOthers) {
  const TanhProblem<double> problem(3, 6, 40, false, 1);
  TrainOptions options;
  options.threads = 1;
  const auto alone = train(problem, problem.starts, problem.targets, options);
  for (const int busy : {0, 1}) {
    Matrix<double> maps[2];
    const auto failures = run_two_ranks([&](Communicator& world) {
      const TanhProblem<double> none(3, 6, 0, false, 1);
      const TanhProblem<double>& own = world.rank() == busy ? problem : none;
      TrainOptions together = options;
      together.communicator = &world;
      const auto result = train(own, own.starts, own.targets, together);
      EXPECT_EQ(result.summary.samples, 40);
      maps[world.rank()] = result.cascade.maps.back().matrix();
    });
    EXPECT_EQ(failures, (std::array<std::string, 2>{}));
    EXPECT_LT((maps[0] - alone.cascade.maps.back().matrix()).norm(), 1e-12);
    EXPECT_EQ(maps[0], maps[1]);
  }
  const std::array<std::string, 2> expected{"the problem has no samples, expected at least one",
                                            "the problem has no samples, expected at least one"};
  EXPECT_EQ(run_two_ranks([&](Communicator& world) {
              const TanhProblem<double> none(3, 6, 0, false, 1);
              TrainOptions together = options;
              together.communicator = &world;
              train(none, none.starts, none.targets, together);
            }),
            expected);
}

// h as a simulation: each rank evaluates its own draws.
TEST(Ranks, ShareTheEvaluationsOfASlowFunction) {
  std::array<std::atomic<Index>, 2> calls{};
  const auto h_of = [&](std::size_t rank) {
    return [&calls, rank](const auto& x, auto&& out) {
      ++calls[rank];
      for (int i = 0; i < 12; ++i) out[i] = x[0] * std::exp(-x[1] * 0.3 * i);
    };
  };
  const Box box{{0.5, 2}, {0.3, 3, Axis::Scale::kLog}};
  LearnOptions options;
  options.features = 12;
  options.noise = Noise::gaussian(0.02);
  options.samples = 1500;
  options.calibration = 600;
  options.threads = 1;
  const Learned alone = learn(h_of(0), box, options);
  const Index all = calls[0].exchange(0);
  const auto failures = run_two_ranks([&](Communicator& world) {
    LearnOptions together = options;
    together.communicator = &world;
    const Learned learned = learn(h_of(static_cast<std::size_t>(world.rank())), box, together);
    EXPECT_EQ(learned.model().record.evaluations, alone.model().record.evaluations);
    EXPECT_EQ(learned.model().record.held_out, alone.model().record.held_out);
    EXPECT_EQ(learned.model().gate.scores, alone.model().gate.scores);
  });
  EXPECT_EQ(failures, (std::array<std::string, 2>{}));
  // Half each, but for blocks that do not split evenly.
  for (const auto& own : calls) EXPECT_NEAR(double(own), 0.5 * double(all), 0.05 * double(all));
}

}  // namespace
}  // namespace sdm
