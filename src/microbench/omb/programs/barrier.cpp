// fm_barrier: no rank goes on before all have come.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::barrier {

Program make() {
  return {.name = "barrier",
          .title = "Barrier Latency Test",
          .family = Family::kCollective,
          .operation = collectives::Operation::kBarrier};
}

}  // namespace fabricmark::microbench::omb::program::barrier
