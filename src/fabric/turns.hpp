#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/communicator.hpp"

namespace fabricmark::fabric {

/// One round: calls `measure(i)` for each of so many, which returns this rank's seconds, and returns the
/// slowest rank's, in the order of i. Round for round another one is the first, so that none always follows
/// the same. Collective; all ranks get the same.
template <typename Measure>
std::vector<double> in_turns(runtime::Communicator& ranks, std::size_t count, std::size_t round,
                             Measure&& measure) {
  std::vector<double> own(count);
  for (std::size_t turn = 0; turn < count; ++turn) {
    const std::size_t i = (round + turn) % count;
    own[i] = measure(i);
  }
  std::vector<double> slowest(count, 0);
  for (const std::vector<double>& of_rank : ranks.all_gather_numbers(own)) {
    for (std::size_t i = 0; i < count; ++i) slowest[i] = std::max(slowest[i], of_rank.at(i));
  }
  return slowest;
}

}  // namespace fabricmark::fabric
