// fm_ireduce_scatter: each rank gets its part of the sum of what all ranks have, while the rank computes.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::ireduce_scatter {

Program make() {
  return {.name = "ireduce_scatter",
          .title = "Non-blocking Reduce_scatter Latency Test",
          .summary = "each rank gets its part of the sum of what all ranks have, while the rank computes",
          .family = Family::kOverlap,
          .operation = collectives::Operation::kReduceScatter};
}

}  // namespace fabricmark::microbench::omb::program::ireduce_scatter
