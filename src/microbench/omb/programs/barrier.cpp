// fm_barrier: no rank goes on before all have come.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::barrier {

Program make() {
  return {.name = "barrier",
          .title = "Barrier Latency Test",
          .summary = "no rank goes on before all have come",
          .family = Family::kCollective,
          .operation = collectives::Operation::kBarrier,
          .is_in_short_set = true};
}

}  // namespace fabricmark::microbench::omb::program::barrier
