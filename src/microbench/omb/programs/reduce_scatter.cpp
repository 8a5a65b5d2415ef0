// fm_reduce_scatter: each rank gets its part of the sum of what all ranks have.
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb::program::reduce_scatter {

Program make() {
  return {.name = "reduce_scatter",
          .title = "Reduce_scatter Latency Test",
          .summary = "each rank gets its part of the sum of what all ranks have",
          .family = Family::kCollective,
          .operation = collectives::Operation::kReduceScatter};
}

}  // namespace fabricmark::microbench::omb::program::reduce_scatter
