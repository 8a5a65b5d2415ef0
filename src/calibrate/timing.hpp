#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

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

}  // namespace fabricmark::calibrate
