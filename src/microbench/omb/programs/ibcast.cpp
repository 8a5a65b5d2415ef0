// fm_ibcast: what the root has comes to all, while the rank computes.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::ibcast {

Program make() {
  return {.name = "ibcast",
          .title = "Non-blocking Broadcast Latency Test",
          .summary = "what the root has comes to all, while the rank computes",
          .family = Family::kOverlap,
          .operation = collectives::Operation::kBroadcast};
}

}  // namespace fabricmark::microbench::omb::program::ibcast
