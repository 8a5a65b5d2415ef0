// fm_allreduce: the sum of what all ranks have comes to all.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::allreduce {

Program make() {
  return {.name = "allreduce",
          .title = "Allreduce Latency Test",
          .summary = "the sum of what all ranks have comes to all",
          .family = Family::kCollective,
          .operation = collectives::Operation::kAllReduce,
          .is_in_short_set = true};
}

}  // namespace fabricmark::microbench::omb::program::allreduce
