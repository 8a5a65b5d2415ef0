#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace fabricmark {

/// For work on each of so many numbers, starting a thread pays.
inline constexpr std::size_t kWorthAThread = std::size_t{1} << 16;

/// Calls `body(begin, end)` with parts of the numbers from 0 to `count`, on up to `threads` threads with at
/// least `least` numbers each; returns when all are done, and throws on what one has thrown. For inputs and
/// checks: nothing that is timed.
template <typename Body>
void parallel_for(std::size_t count, int threads, std::size_t least, Body&& body) {
  const std::size_t most = std::max<std::size_t>(1, count / std::max<std::size_t>(1, least));
  const std::size_t parts = std::min(most, static_cast<std::size_t>(std::max(1, threads)));
  std::vector<std::exception_ptr> failures(parts);
  const auto run = [&](std::size_t part) {
    try {
      body(count * part / parts, count * (part + 1) / parts);
    } catch (...) {
      failures[part] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t part = 1; part < parts; ++part) others.emplace_back(run, part);
    run(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

/// The sum of what `part(begin, end)` returns of the numbers from 0 to `count`, in any order: of integers, or
/// where rounding does not matter.
template <typename Part>
auto parallel_sum(std::size_t count, int threads, std::size_t least, Part&& part) {
  decltype(part(count, count)) sum{};
  std::mutex mutex;
  parallel_for(count, threads, least, [&](std::size_t begin, std::size_t end) {
    const auto own = part(begin, end);
    const std::scoped_lock lock(mutex);
    sum += own;
  });
  return sum;
}

/// One thread would take a second to touch 4 GB for the first time.
template <typename T>
void parallel_fill(std::span<T> values, const T& value, int threads) {
  parallel_for(values.size(), threads, kWorthAThread, [&](std::size_t begin, std::size_t end) {
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(begin),
              values.begin() + static_cast<std::ptrdiff_t>(end), value);
  });
}

}  // namespace fabricmark
