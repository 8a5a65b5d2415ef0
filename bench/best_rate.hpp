#pragma once

#include <algorithm>
#include <chrono>

/// `work` over the least seconds of `repetitions` calls; one more before them is not counted.
template <typename Call>
double best_rate(int repetitions, double work, Call&& call) {
  call();
  double least = 1e300;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    least = std::min(least, elapsed.count());
  }
  return work / least;
}
