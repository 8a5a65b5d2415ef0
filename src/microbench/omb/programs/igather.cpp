// fm_igather: what each rank has comes to the root, while the rank computes.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::igather {

Program make() {
  return {.name = "igather",
          .title = "Non-blocking Gather Latency Test",
          .summary = "what each rank has comes to the root, while the rank computes",
          .family = Family::kOverlap,
          .operation = collectives::Operation::kGather};
}

}  // namespace fabricmark::microbench::omb::program::igather
