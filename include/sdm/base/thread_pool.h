#pragma once

#include <functional>
#include <memory>

#include "sdm/base/types.h"

namespace sdm {

/// A fixed set of threads that share out the indices of a loop.
class ThreadPool {
 public:
  /// `threads` workers including the caller; 0 takes all cores.
  /// Throws Error if the system does not give that many.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  /// Calls task(i, worker) once for each i in [0, count), in no order, worker in [0, threads()).
  /// If tasks throw, the exception of the lowest index is rethrown here after all have stopped.
  /// Not to be called from within a task.
  void run(Index count, const std::function<void(Index, int)>& task);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sdm
