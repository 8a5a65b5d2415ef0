// fm_alltoallv: each rank has a part for each; ranks say how much each of them has.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::alltoallv {

Program make() {
  return {.name = "alltoallv",
          .title = "All-to-Allv Personalized Exchange Latency Test",
          .summary = "each rank has a part for each; ranks say how much each of them has",
          .family = Family::kCollective,
          .operation = collectives::Operation::kAllToAll,
          .has_counts = true};
}

}  // namespace fabricmark::microbench::omb::program::alltoallv
