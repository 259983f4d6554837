#pragma once

#include <algorithm>
#include <array>
#include <barrier>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "sdm/descent/train/communicator.h"

namespace sdm {

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

/// Runs something as each of the ranks; gives what each ended with, empty where it ended well.
inline std::array<std::string, 2> run_two_ranks(const std::function<void(Communicator&)>& work) {
  Meeting meeting;
  std::array<std::string, 2> failures;
  const auto run = [&](int number) {
    Rank world(meeting, number);
    try {
      work(world);
    } catch (const std::exception& error) {
      failures[static_cast<std::size_t>(number)] = error.what();
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  return failures;
}

}  // namespace sdm
