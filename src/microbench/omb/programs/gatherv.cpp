// fm_gatherv: what each rank has comes to the root; ranks say how much each of them has.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::gatherv {

Program make() {
  return {.name = "gatherv",
          .title = "Gatherv Latency Test",
          .summary = "what each rank has comes to the root; ranks say how much each of them has",
          .family = Family::kCollective,
          .operation = collectives::Operation::kGather,
          .has_counts = true};
}

}  // namespace fabricmark::microbench::omb::program::gatherv
