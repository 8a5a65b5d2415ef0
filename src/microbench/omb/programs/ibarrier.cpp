// fm_ibarrier: no rank goes on before all have come, while the rank computes.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::ibarrier {

Program make() {
  return {.name = "ibarrier",
          .title = "Non-blocking Barrier Latency Test",
          .summary = "no rank goes on before all have come, while the rank computes",
          .family = Family::kOverlap,
          .operation = collectives::Operation::kBarrier};
}

}  // namespace fabricmark::microbench::omb::program::ibarrier
