#include "sdm/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sdm/base/error.h"
#include "tests/sanitized.h"

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

// In a process of its own: there is room for a few threads' stacks and no more.
TEST(ThreadPool, SaysThatThreadsCannotBeStarted) {
  if (SDM_SANITIZED) GTEST_SKIP() << "a sanitizer needs more memory than the limit of this test";
  const pid_t child = fork();
  if (child == 0) {
    { ThreadPool before(2); }
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t(256) << 20);
    const rlimit limit{most, most};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(3);
    try {
      ThreadPool pool(1000);
    } catch (const Error& e) {
      _exit(std::string(e.what()).starts_with("cannot start 1000 threads: ") ? 0 : 1);
    }
    _exit(2);
  }
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace sdm
