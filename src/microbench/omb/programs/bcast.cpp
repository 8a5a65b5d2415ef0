// fm_bcast: what the root has comes to all.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::bcast {

Program make() {
  return {.name = "bcast",
          .title = "Broadcast Latency Test",
          .summary = "what the root has comes to all",
          .family = Family::kCollective,
          .operation = collectives::Operation::kBroadcast};
}

}  // namespace fabricmark::microbench::omb::program::bcast
