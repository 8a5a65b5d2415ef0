// fm_allgather: what each rank has comes to all.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::allgather {

Program make() {
  return {.name = "allgather",
          .title = "Allgather Latency Test",
          .summary = "what each rank has comes to all",
          .family = Family::kCollective,
          .operation = collectives::Operation::kAllGather};
}

}  // namespace fabricmark::microbench::omb::program::allgather
