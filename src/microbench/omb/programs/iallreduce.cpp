// fm_iallreduce: the sum of what all ranks have comes to all, while the rank computes.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::iallreduce {

Program make() {
  return {.name = "iallreduce",
          .title = "Non-blocking Allreduce Latency Test",
          .summary = "the sum of what all ranks have comes to all, while the rank computes",
          .family = Family::kOverlap,
          .operation = collectives::Operation::kAllReduce};
}

}  // namespace fabricmark::microbench::omb::program::iallreduce
