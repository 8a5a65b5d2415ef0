#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

#include "harness/ranks.hpp"

namespace fabricmark::harness {

/// How many threads a rank may use for work of the host that is not timed: its share of the cores.
inline int host_threads(const Ranks& ranks) {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranks.local_size());
}

/// Calls `work(start, end)` for parts of 0 to `count` that together are the whole, on up to `threads` threads
/// at the same time. It must not throw.
template <typename Work>
void spread(std::size_t count, int threads, Work&& work, std::size_t worth_a_thread = std::size_t{1} << 16) {
  const std::size_t parts =
      std::clamp<std::size_t>(count / worth_a_thread, 1, static_cast<std::size_t>(threads));
  const auto start = [&](std::size_t part) { return count / parts * part + std::min(part, count % parts); };
  std::vector<std::thread> others;
  for (std::size_t part = 1; part < parts; ++part) {
    others.emplace_back([&work, first = start(part), last = start(part + 1)] { work(first, last); });
  }
  work(0, start(1));
  for (std::thread& other : others) other.join();
}

}  // namespace fabricmark::harness
