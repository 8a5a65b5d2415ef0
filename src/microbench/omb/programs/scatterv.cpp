// fm_scatterv: each rank gets its part of what the root has; ranks say how much each of them has.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::scatterv {

Program make() {
  return {.name = "scatterv",
          .title = "Scatterv Latency Test",
          .summary = "each rank gets its part of what the root has; ranks say how much each of them has",
          .family = Family::kCollective,
          .operation = collectives::Operation::kScatter,
          .has_counts = true};
}

}  // namespace fabricmark::microbench::omb::program::scatterv
