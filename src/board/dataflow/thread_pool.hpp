#pragma once

#include <atomic>
#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace fabricmark::dataflow {

/// Threads that do the same together, again and again; the caller's is the first of them.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();

  /// `task(number)` on all threads; returns when all have done it. It must not throw.
  void run(const std::function<void(int)>& task);

 private:
  void serve(int number);

  std::barrier<> gate_;
  const std::function<void(int)>* task_ = nullptr;
  std::vector<std::jthread> threads_;
};

}  // namespace fabricmark::dataflow
