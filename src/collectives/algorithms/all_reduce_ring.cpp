#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::all_reduce_ring {

namespace {

/// Sums of shares go round the ring, then the shares.
/// Thakur et al. (2005), section 4.5.
void program(Moves& moves, const Call& call) {
  const Ring ring = ring_of(moves);
  reduce_shares(moves, ring, call.own, call.result);
  gather_shares(moves, ring, call.result);
}

std::size_t buffers(const CostModel& model) { return model.buffers(1, 1.0 / model.ranks()); }

}  // namespace

Algorithm make() {
  return {.operation = Operation::kAllReduce,
          .name = "ring",
          .reach = Reach::kRing,
          .buffers = buffers,
          .program = program};
}

}  // namespace fabricmark::collectives::all_reduce_ring
