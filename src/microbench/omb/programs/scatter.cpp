// fm_scatter: each rank gets its part of what the root has.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::scatter {

Program make() {
  return {.name = "scatter",
          .title = "Scatter Latency Test",
          .summary = "each rank gets its part of what the root has",
          .family = Family::kCollective,
          .operation = collectives::Operation::kScatter};
}

}  // namespace fabricmark::microbench::omb::program::scatter
