// fm_ireduce: the sum of what all ranks have comes to the root, while the rank computes.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::ireduce {

Program make() {
  return {.name = "ireduce",
          .title = "Non-blocking Reduce Latency Test",
          .summary = "the sum of what all ranks have comes to the root, while the rank computes",
          .family = Family::kOverlap,
          .operation = collectives::Operation::kReduce};
}

}  // namespace fabricmark::microbench::omb::program::ireduce
