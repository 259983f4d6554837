#include "sdm/linear/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sdm {
namespace {

class ThreadPoolTest : public testing::TestWithParam<int> {};

TEST_P(ThreadPoolTest, RunsEveryIndexOnceOnAKnownWorker) {
  ThreadPool pool(GetParam());
  ASSERT_EQ(pool.threads(), GetParam());
  for (const Index count : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
    std::atomic<int> strangers = 0;
    pool.run(count, [&](Index i, int worker) {
      ++calls[static_cast<std::size_t>(i)];
      if (worker < 0 || worker >= pool.threads()) ++strangers;
    });
    for (const auto& n : calls) EXPECT_EQ(n, 1);
    EXPECT_EQ(strangers, 0);
  }
}

TEST_P(ThreadPoolTest, NeverRunsAWorkerTwiceAtOnce) {
  ThreadPool pool(GetParam());
  std::vector<std::atomic<int>> inside(static_cast<std::size_t>(pool.threads()));
  std::atomic<int> clashes = 0;
  pool.run(500, [&](Index, int worker) {
    auto& mine = inside[static_cast<std::size_t>(worker)];
    if (mine.fetch_add(1) != 0) ++clashes;
    std::this_thread::yield();
    --mine;
  });
  EXPECT_EQ(clashes, 0);
}

TEST_P(ThreadPoolTest, RethrowsTheFailureOfTheLowestIndexWhateverTheTiming) {
  ThreadPool pool(GetParam());
  for (int repeat = 0; repeat < 50; ++repeat) {
    try {
      pool.run(64, [&](Index i, int) {
        // The lowest one that fails takes longest, so a later failure is known first.
        if (i == 5) std::this_thread::sleep_for(std::chrono::microseconds(200));
        if (i >= 5) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "the failure was lost";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "5");
    }
  }
}

TEST_P(ThreadPoolTest, WorksAgainAfterAFailure) {
  ThreadPool pool(GetParam());
  for (int repeat = 0; repeat < 20; ++repeat) {
    EXPECT_THROW(pool.run(10, [](Index, int) { throw std::runtime_error("x"); }),
                 std::runtime_error);
    std::atomic<Index> sum = 0;
    pool.run(100, [&](Index i, int) { sum += i; });
    EXPECT_EQ(sum, 4950);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Range(1, 9));

TEST(ThreadPool, TakesAllCoresUnlessTold) {
  EXPECT_EQ(ThreadPool().threads(),
            std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
}

}  // namespace
}  // namespace sdm
