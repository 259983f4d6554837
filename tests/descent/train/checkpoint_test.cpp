#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <thread>

#include "sdm/descent/train/train.h"
#include "sdm/io/file.h"
#include "tests/descent/problems.h"
#include "tests/io/expect_error.h"
#include "tests/temporary_folder.h"

namespace sdm {
namespace {

using io::expect_error;
namespace fs = std::filesystem;

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() {
    options.stages = 4;
    options.folds = 3;
    options.threads = 1;
    options.checkpoint = (folder_ / "training.sdm").string();
  }

  TrainOptions without_checkpoint() const {
    TrainOptions other = options;
    other.checkpoint.clear();
    return other;
  }
  std::string bytes() const {
    std::ifstream in(options.checkpoint, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  template <class P>
  void stop_after(const P& problem, int stages) {
    TrainObserver observer;
    observer.stage = [&](const StageSummary& s) {
      if (s.stage + 1 == stages) throw std::runtime_error("stop");
    };
    EXPECT_THROW(problem.train(options, observer), std::runtime_error);
  }

  TrainOptions options;

 private:
  TemporaryFolder folder_;
};

template <class Scalar>
void expect_same_result(const TrainResult<Scalar>& a, const TrainResult<Scalar>& b) {
  EXPECT_TRUE(same_bits(a.cascade, b.cascade));
  EXPECT_EQ(a.inverse_covariances, b.inverse_covariances);
  ASSERT_EQ(a.summary.stages.size(), b.summary.stages.size());
  for (std::size_t k = 0; k < a.summary.stages.size(); ++k) {
    EXPECT_EQ(a.summary.stages[k].stage, b.summary.stages[k].stage);
    EXPECT_EQ(a.summary.stages[k].error_before, b.summary.stages[k].error_before);
    EXPECT_EQ(a.summary.stages[k].error_after, b.summary.stages[k].error_after);
    EXPECT_EQ(a.summary.stages[k].penalty, b.summary.stages[k].penalty);
  }
}

TEST_F(CheckpointTest, ResumesToTheSameBits) {
  const TanhProblem<double> wide(3, 8, 60, false, 1);
  const TanhProblem<float> narrow(3, 8, 60, true, 1);
  const auto check = [&](const auto& problem, bool keep) {
    options.keep_inverse_covariance = keep;
    const auto whole = problem.train(without_checkpoint());
    for (int stages = 1; stages <= 4; ++stages) {
      fs::remove(options.checkpoint);
      stop_after(problem, stages);
      const auto resumed = problem.train(options);
      EXPECT_EQ(resumed.summary.resumed_from, stages);
      expect_same_result(resumed, whole);
    }
    fs::remove(options.checkpoint);
  };
  check(wide, false);
  check(narrow, false);
  check(wide, true);
  options.rank = 2;
  check(wide, false);
}

TEST_F(CheckpointTest, EstimatesOnlyWhatIsLeft) {
  const TanhProblem<double> problem(3, 8, 60, false, 1);
  problem.train(options);
  TrainObserver observer;
  double seconds = -1;
  observer.estimate = [&](const TrainEstimate& e) { seconds = e.seconds; };
  problem.train(options, observer);
  EXPECT_EQ(seconds, 0);
}

TEST_F(CheckpointTest, RefusesAndKeepsTheCheckpointOfAnotherTraining) {
  const TanhProblem<double> problem(3, 8, 60, false, 1);
  stop_after(problem, 2);
  const std::string before = bytes();
  const auto refuse = [&](auto other, const TrainOptions& with) {
    expect_error([&] { other.train(with); }, "this checkpoint belongs to another training");
    EXPECT_EQ(bytes(), before);
  };
  TanhProblem<double> other = problem;
  other.starts(0, 0) += 1e-12;
  refuse(other, options);
  other = problem;
  other.targets(2, 59) += 1e-12;
  refuse(other, options);
  other = problem;
  other.weights.assign(60, 2.0);
  refuse(other, options);
  other = problem;
  other.known = true;
  refuse(other, options);
  other = problem;
  other.h.c[3] += 1e-3;  // another function of the same sizes
  refuse(other, options);
  TrainOptions changed = options;
  changed.robust_weight = [](double) { return 1.0; };
  refuse(problem, changed);
  changed = options;
  changed.seed = 9;
  refuse(problem, changed);
  changed = options;
  changed.penalty = Penalty::relative(1e-5);
  refuse(problem, changed);
  changed = options;
  changed.rank = 2;
  refuse(problem, changed);
  refuse(TanhProblem<float>(3, 8, 60, false, 1), options);

  changed = options;
  changed.threads = 3;  // does not change the bits, so it is the same training
  expect_same_result(problem.train(changed), problem.train(without_checkpoint()));
}

TEST_F(CheckpointTest, RefusesTheCheckpointOfATrainingWithAnotherRobustWeight) {
  const TanhProblem<double> problem(3, 8, 60, false, 1);
  const auto holding_back_above = [](double limit) {
    return [limit](double error) { return std::min(1.0, limit / error); };
  };
  options.robust_weight = holding_back_above(0.3);
  stop_after(problem, 2);
  TrainOptions other = options;
  other.robust_weight = holding_back_above(0.4);
  expect_error([&] { problem.train(other); }, "this checkpoint belongs to another training");
  EXPECT_EQ(problem.train(options).summary.resumed_from, 2);
}

// Moves as far as it is told, so that only its steps differ.
struct Strides : TanhProblem<double> {
  using TanhProblem::TanhProblem;
  double stride = 1;
  void difference(ConstVectorRef<double> x, ConstVectorRef<double> target,
                  VectorRef<double> out) const {
    out = target - x;
  }
  void step(int /*stage*/, ConstVectorRef<double> x, ConstVectorRef<double> delta,
            VectorRef<double> out) const {
    out = x + stride * delta;
  }
  TrainResult<double> train(const TrainOptions& options, const TrainObserver& observer = {}) const {
    return sdm::train(*this, starts, targets, options, observer);
  }
};

TEST_F(CheckpointTest, RefusesTheCheckpointOfATrainingWithOtherSteps) {
  Strides problem(3, 8, 60, false, 1);
  stop_after(problem, 2);
  problem.stride = 0.9;
  expect_error([&] { problem.train(options); }, "this checkpoint belongs to another training");
}

// Refuses a state that training never comes by, half way to the target.
struct Choosy : TanhProblem<double> {
  using TanhProblem::TanhProblem;
  void features(Index i, int stage, ConstVectorRef<double> x, VectorRef<double> out) const {
    const Vector<double> half = 0.5 * (targets.col(i) - starts.col(i));
    if ((x - starts.col(i) - half).norm() < 1e-9) throw std::runtime_error("not here");
    TanhProblem::features(i, stage, x, out);
  }
};

TEST_F(CheckpointTest, NeverFailsWhereTrainingDoesNot) {
  const Choosy problem(3, 8, 60, false, 1);
  expect_same_result(train(problem, problem.starts, problem.targets, options),
                     train(problem, problem.starts, problem.targets, without_checkpoint()));
}

TEST_F(CheckpointTest, RefusesAndKeepsAFileThatIsNoCheckpoint) {
  const TanhProblem<double> problem(3, 8, 60, false, 1);
  stop_after(problem, 2);
  const std::string good = bytes();
  const auto refuse = [&](const std::string& content, const std::string& part) {
    std::ofstream(options.checkpoint, std::ios::binary | std::ios::trunc) << content;
    expect_error([&] { problem.train(options); }, part);
    EXPECT_EQ(bytes(), content);
  };
  refuse("my diary", options.checkpoint);
  refuse(good.substr(0, good.size() / 2), options.checkpoint);
  std::string flipped = good;
  flipped[flipped.size() * 3 / 4] ^= 1;
  refuse(flipped, options.checkpoint);

  fs::remove(options.checkpoint);
  problem.train(without_checkpoint()).cascade.save(options.checkpoint);
  const std::string cascade = bytes();
  refuse(cascade, "checkpoint");
}

// Its checksums and its fingerprint are right: somebody made it so.
TEST_F(CheckpointTest, RefusesMapsThatDoNotFitTheTraining) {
  const TanhProblem<double> problem(3, 8, 60, false, 1);
  stop_after(problem, 3);
  const io::Model good = io::read(options.checkpoint);
  const auto refuse = [&](const io::Model& changed, const std::string& part) {
    io::write(options.checkpoint, changed);
    expect_error([&] { problem.train(options); }, part);
  };
  const auto header = nlohmann::json::parse(good.header);
  io::Model more = good;
  auto longer = header;
  for (int stage : {3, 4, 5}) {
    longer["stages"].push_back(header["stages"][0]);
    for (const char* part : {"right", "bias"})
      more.put(fmt::format("stage{}.{}", stage, part), good.tensor(fmt::format("stage0.{}", part)));
  }
  more.header = longer.dump();
  refuse(more, "6 stages, expected at most 4");

  io::Model wide = good;
  const Matrix<double> map = good.matrix<double>("stage1.right");
  wide.tensors.erase("stage1.right");
  wide.put("stage1.right", io::to_tensor(Matrix<double>(Matrix<double>::Zero(map.rows(), 7))));
  refuse(wide, "the map of stage 1 takes 7 features");

  io::Model numbers = good;
  auto broken = header;
  broken["stages"][0]["stage"] = 1e30;
  numbers.header = broken.dump();
  refuse(numbers, "'stage' is 1e+30");
}

TEST_F(CheckpointTest, SaysSoWhenItCannotBeWritten) {
  options.checkpoint = (fs::path(options.checkpoint).parent_path() / "no" / "such" / "x").string();
  expect_error([&] { TanhProblem<double>(3, 8, 60, false, 1).train(options); }, options.checkpoint);
}

// Takes its time over every feature vector, so that a kill finds it anywhere.
struct Slow : TanhProblem<double> {
  using TanhProblem::TanhProblem;
  void features(Index i, int stage, ConstVectorRef<double> x, VectorRef<double> out) const {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    TanhProblem::features(i, stage, x, out);
  }
};

TEST_F(CheckpointTest, SurvivesBeingKilledAtAnyTime) {
  const Slow slow(3, 8, 40, false, 1);
  std::mt19937 random(7);
  int kills = 0;
  for (bool ended = false; !ended;) {
    const pid_t child = fork();
    if (child == 0) {
      try {
        train(slow, slow.starts, slow.targets, options);
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    ASSERT_GT(child, 0);
    // The first ones early, so that some are surely killed; the rest anywhere in the run, and ever
    // later, so that a slow machine comes to an end too.
    const unsigned latest = 40000 * (1 + static_cast<unsigned>(kills) / 20);
    std::this_thread::sleep_for(
        std::chrono::microseconds(kills < 3 ? 2000 + random() % 8000 : random() % latest));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ended = WIFEXITED(status);
    if (ended) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
    } else {
      ++kills;
    }
    ASSERT_LT(kills, 1000);
  }
  EXPECT_GE(kills, 1);
  const auto resumed = train(slow, slow.starts, slow.targets, options);
  EXPECT_EQ(resumed.summary.resumed_from, 4);
  expect_same_result(resumed, train(slow, slow.starts, slow.targets, without_checkpoint()));
}

}  // namespace
}  // namespace sdm
