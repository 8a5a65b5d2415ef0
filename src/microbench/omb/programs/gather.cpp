// fm_gather: what each rank has comes to the root.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::gather {

Program make() {
  return {.name = "gather",
          .title = "Gather Latency Test",
          .summary = "what each rank has comes to the root",
          .family = Family::kCollective,
          .operation = collectives::Operation::kGather};
}

}  // namespace fabricmark::microbench::omb::program::gather
