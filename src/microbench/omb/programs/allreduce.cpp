// fm_allreduce: the sum of what all ranks have comes to all.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::allreduce {

Program make() {
  return {.name = "allreduce",
          .title = "Allreduce Latency Test",
          .family = Family::kCollective,
          .operation = collectives::Operation::kAllReduce};
}

}  // namespace fabricmark::microbench::omb::program::allreduce
