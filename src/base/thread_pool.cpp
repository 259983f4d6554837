#include "sdm/base/thread_pool.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/formatted.h"
#include "sdm/base/error.h"

namespace sdm {

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable work_ready, work_done;
  std::vector<std::thread> workers;

  // The loop under way; all guarded by the mutex.
  const std::function<void(Index, int)>* task = nullptr;
  Index next = 0, count = 0;
  int busy = 0;
  bool stop = false;
  Index failed_index = std::numeric_limits<Index>::max();
  std::exception_ptr failure;

  ~State() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    work_ready.notify_all();
    for (std::thread& worker : workers) worker.join();
  }

  // Indices are handed out in order, so every index below a failed one has run: which exception is
  // the lowest does not depend on the timing of the threads.
  void work(std::unique_lock<std::mutex>& lock, int worker) {
    ++busy;
    while (next < count && !failure) {
      const Index i = next++;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        (*task)(i, worker);
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      if (thrown && i < failed_index) {
        failed_index = i;
        failure = thrown;
      }
    }
    --busy;
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  if (threads <= 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto work = [state = state_.get()](int worker) {
    std::unique_lock lock(state->mutex);
    while (true) {
      state->work_ready.wait(lock, [&] {
        return state->stop ||
               (state->task != nullptr && state->next < state->count && !state->failure);
      });
      if (state->stop) return;
      state->work(lock, worker);
      if (state->busy == 0) state->work_done.notify_all();
    }
  };
  try {
    for (int worker = 1; worker < threads; ++worker) state_->workers.emplace_back(work, worker);
  } catch (const std::system_error& e) {
    throw Error(formatted("cannot start {} threads: {}", threads, e.what()));
  }
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::threads() const { return static_cast<int>(state_->workers.size()) + 1; }

void ThreadPool::run(Index count, const std::function<void(Index, int)>& task) {
  if (count <= 0) return;
  if (count == 1 || state_->workers.empty()) {
    for (Index i = 0; i < count; ++i) task(i, 0);
    return;
  }
  std::unique_lock lock(state_->mutex);
  state_->task = &task;
  state_->next = 0;
  state_->count = count;
  state_->failure = nullptr;
  state_->failed_index = std::numeric_limits<Index>::max();
  state_->work_ready.notify_all();
  state_->work(lock, 0);
  state_->work_done.wait(lock, [&] { return state_->busy == 0; });
  state_->task = nullptr;
  if (state_->failure) std::rethrow_exception(std::exchange(state_->failure, nullptr));
}

}  // namespace sdm
