#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "sdm/descent/train/communicator.h"
#include "tests/descent/problems.h"

namespace sdm {
namespace {

// Where two threads meet that play the ranks of a distributed training.
struct Meeting {
  struct Place {
    void* data = nullptr;
    bool here = false;
  };
  std::array<Place, 2> places;
  std::barrier<> barrier{2};
};

class Rank final : public Communicator {
 public:
  Rank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  ~Rank() override {
    meeting_.places[static_cast<std::size_t>(rank_)] = {};
    meeting_.barrier.arrive_and_drop();
  }

  int rank() const override { return rank_; }
  int size() const override { return 2; }
  void sum_to_root(std::span<float> numbers) override { sum(numbers); }
  void sum_to_root(std::span<double> numbers) override { sum(numbers); }
  void broadcast(std::span<std::byte> bytes) override {
    meet(bytes.data(), [&](const void* other) {
      if (rank_ == 1 && !bytes.empty()) std::memcpy(bytes.data(), other, bytes.size());
    });
  }
  Index maximum(Index value) override {
    Index largest = value;
    meet(&value, [&](const void* other) {
      largest = std::max(largest, *static_cast<const Index*>(other));
    });
    return largest;
  }

 private:
  template <class T>
  void sum(std::span<T> numbers) {
    meet(numbers.data(), [&](const void* other) {
      if (rank_ == 0)
        for (std::size_t i = 0; i < numbers.size(); ++i)
          numbers[i] += static_cast<const T*>(other)[i];
    });
  }

  // `use` sees what the other rank brought; a rank that has left would never bring anything.
  void meet(void* mine, const std::function<void(const void*)>& use) {
    meeting_.places[static_cast<std::size_t>(rank_)] = {mine, true};
    meeting_.barrier.arrive_and_wait();
    const Meeting::Place other = meeting_.places[static_cast<std::size_t>(1 - rank_)];
    if (!other.here) throw std::logic_error("left alone");
    use(other.data);
    meeting_.barrier.arrive_and_wait();
  }

  Meeting& meeting_;
  int rank_;
};

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
  Meeting meeting;
  std::array<std::string, 2> result;
  const auto run = [&](int rank) {
    Listening problem(3, 6, 40, false, 1);
    TrainObserver observer;
    if (rank == 1) prepare(problem, observer);
    Rank world(meeting, rank);
    TrainOptions options;
    options.threads = 1;
    options.communicator = &world;
    try {
      train(problem, problem.starts, problem.targets, options, observer);
    } catch (const std::exception& e) {
      result[static_cast<std::size_t>(rank)] = e.what();
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  return result;
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

}  // namespace
}  // namespace sdm
