// fm_ialltoall: each rank has a part for each, while the rank computes.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::ialltoall {

Program make() {
  return {.name = "ialltoall",
          .title = "Non-blocking All-to-All Personalized Exchange Latency Test",
          .summary = "each rank has a part for each, while the rank computes",
          .family = Family::kOverlap,
          .operation = collectives::Operation::kAllToAll};
}

}  // namespace fabricmark::microbench::omb::program::ialltoall
