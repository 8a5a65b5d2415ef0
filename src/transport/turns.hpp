#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <vector>

#include "runtime/communicator.hpp"

namespace fabricmark::transport {

/// The order of so many in a round. Over `count` rounds, twice as many where that is odd, each has each place
/// equally often and follows each of the others equally often (E. J. Williams, "Experimental designs balanced
/// for the estimation of residual effects of treatments", 1949): what went before leaves caches and threads
/// in a state that is worth some percent to whoever comes next.
inline std::vector<std::size_t> balanced_order(std::size_t count, std::size_t round) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i) {  // 0, 1, n - 1, 2, n - 2, ...
    const std::size_t first = i % 2 == 1 ? (i + 1) / 2 : (count - i / 2) % count;
    order.push_back((first + round) % count);
  }
  if (count % 2 == 1 && round / count % 2 == 1) std::ranges::reverse(order);
  return order;
}

/// Seconds since then of the rank that counts the most of them. Collective; all ranks get the same.
inline double agreed_seconds_since(std::chrono::steady_clock::time_point start,
                                   runtime::Communicator& ranks) {
  using Microseconds = std::chrono::duration<std::int64_t, std::micro>;
  const auto own = std::chrono::duration_cast<Microseconds>(std::chrono::steady_clock::now() - start);
  return 1e-6 * static_cast<double>(ranks.all_reduce_max(own.count()));
}

/// One round: calls `measure(i)` for each of so many, which returns this rank's seconds, and returns the
/// slowest rank's, in the order of i. Rounds have balanced orders, the same on all ranks. Collective; all
/// ranks get the same.
template <typename Measure>
std::vector<double> in_turns(runtime::Communicator& ranks, std::size_t count, std::size_t round,
                             Measure&& measure) {
  const std::vector<std::size_t> order = balanced_order(count, round);
  std::vector<double> own(count);
  for (const std::size_t i : order) own[i] = measure(i);
  std::vector<double> slowest(count, 0);
  for (const std::vector<double>& of_rank : ranks.all_gather_numbers(own)) {
    for (std::size_t i = 0; i < count; ++i) slowest[i] = std::max(slowest[i], of_rank.at(i));
  }
  return slowest;
}

}  // namespace fabricmark::transport
