#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include "runtime/communicator.hpp"

namespace fabricmark::fabric {

/// One round: calls `measure(i)` for each of so many, which returns this rank's seconds, and returns the
/// slowest rank's, in the order of i. Each round has an order by chance, the same on all ranks: what follows
/// its like finds its memory in the caches, and must not always do so. Collective; all ranks get the same.
template <typename Measure>
std::vector<double> in_turns(runtime::Communicator& ranks, std::size_t count, std::size_t round,
                             Measure&& measure) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 chance(static_cast<std::mt19937::result_type>(round));
  std::shuffle(order.begin(), order.end(), chance);
  std::vector<double> own(count);
  for (const std::size_t i : order) own[i] = measure(i);
  std::vector<double> slowest(count, 0);
  for (const std::vector<double>& of_rank : ranks.all_gather_numbers(own)) {
    for (std::size_t i = 0; i < count; ++i) slowest[i] = std::max(slowest[i], of_rank.at(i));
  }
  return slowest;
}

}  // namespace fabricmark::fabric
