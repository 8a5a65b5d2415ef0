// fm_iscatter: each rank gets its part of what the root has, while the rank computes.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::iscatter {

Program make() {
  return {.name = "iscatter",
          .title = "Non-blocking Scatter Latency Test",
          .summary = "each rank gets its part of what the root has, while the rank computes",
          .family = Family::kOverlap,
          .operation = collectives::Operation::kScatter};
}

}  // namespace fabricmark::microbench::omb::program::iscatter
