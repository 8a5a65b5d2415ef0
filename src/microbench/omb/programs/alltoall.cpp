// fm_alltoall: each rank has a part for each.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::alltoall {

Program make() {
  return {.name = "alltoall",
          .title = "All-to-All Personalized Exchange Latency Test",
          .summary = "each rank has a part for each",
          .family = Family::kCollective,
          .operation = collectives::Operation::kAllToAll,
          .is_in_short_set = true};
}

}  // namespace fabricmark::microbench::omb::program::alltoall
