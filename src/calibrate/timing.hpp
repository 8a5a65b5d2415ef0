#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace fabricmark::calibrate {

inline double seconds_of(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The least seconds of several runs; one more before them is not counted.
inline double best_seconds(int runs, const std::function<void()>& work) {
  work();
  double best = seconds_of(work);
  for (int i = 1; i < runs; ++i) best = std::min(best, seconds_of(work));
  return best;
}

/// Seconds in which `threads` threads all do their work, from the moment when all are there.
inline double seconds_together(int threads, const std::function<void(int)>& work) {
  std::atomic<int> waiting = threads;
  std::atomic<bool> go = false;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      --waiting;
      while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
      work(i);
    });
  }
  while (waiting.load() > 0) std::this_thread::yield();
  return seconds_of([&] {
    go.store(true, std::memory_order_release);
    for (std::thread& worker : workers) worker.join();
  });
}

}  // namespace fabricmark::calibrate
