// fm_allgatherv: what each rank has comes to all; ranks say how much each of them has.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::allgatherv {

Program make() {
  return {.name = "allgatherv",
          .title = "Allgatherv Latency Test",
          .summary = "what each rank has comes to all; ranks say how much each of them has",
          .family = Family::kCollective,
          .operation = collectives::Operation::kAllGather,
          .has_counts = true};
}

}  // namespace fabricmark::microbench::omb::program::allgatherv
