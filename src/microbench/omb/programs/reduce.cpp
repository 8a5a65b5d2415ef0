// fm_reduce: the sum of what all ranks have comes to the root.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::reduce {

Program make() {
  return {.name = "reduce",
          .title = "Reduce Latency Test",
          .summary = "the sum of what all ranks have comes to the root",
          .family = Family::kCollective,
          .operation = collectives::Operation::kReduce};
}

}  // namespace fabricmark::microbench::omb::program::reduce
