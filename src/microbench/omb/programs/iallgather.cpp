// fm_iallgather: what each rank has comes to all, while the rank computes.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::iallgather {

Program make() {
  return {.name = "iallgather",
          .title = "Non-blocking Allgather Latency Test",
          .summary = "what each rank has comes to all, while the rank computes",
          .family = Family::kOverlap,
          .operation = collectives::Operation::kAllGather};
}

}  // namespace fabricmark::microbench::omb::program::iallgather
