#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/ptrans/plan.hpp"

namespace fabricmark::ptrans {

/// What kernels read from the memory of one other rank themselves, without a message: tasks whose `source`
/// has the bit kTheirs and is a number among the blocks that leave that rank. Every other one is a task with
/// a block that stays, so that a device has work of its own while a link brings the others.
struct Pull {
  int peer = 0;
  std::vector<Task> tasks;
};

/// Of a task's source: it lies in another rank's memory. As in
/// kernels/ptrans/throughput.cl.
inline constexpr std::uint32_t kTheirs = std::uint32_t{1} << 31;

/// All that is to do on a rank with this plan, by peers; one of its own where no block comes from others.
std::vector<Pull> make_pulls(const Distribution& distribution, int rank, const Plan& plan);

}  // namespace fabricmark::ptrans
