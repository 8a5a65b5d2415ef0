#include "fabric/collectives/algorithm.hpp"
#include "fabric/collectives/steps.hpp"

namespace fabricmark::collectives::all_reduce_ring {

namespace {

/// Thakur et al. (2005), section 4.5: 2 (p - 1) a + 2 (p - 1) / p m b, with the ring for both halves.
double seconds(const Prices& prices) {
  const double share = prices.bytes() / prices.ranks();
  return (prices.ranks() - 1) * (prices.all_combining(1, share) + prices.all(1, share));
}

/// Sums of shares go round the ring, then the shares.
void program(Moves& moves, const Call& call) {
  const Ring ring = ring_of(moves);
  reduce_shares(moves, ring, call.own, call.result);
  gather_shares(moves, ring, call.result);
}

std::size_t buffers(const Prices& prices) { return prices.buffers(1, 1.0 / prices.ranks()); }

}  // namespace

Algorithm make() {
  return {.operation = Operation::kAllReduce,
          .name = "ring",
          .reach = Reach::kRing,
          .buffers = buffers,
          .seconds = seconds,
          .program = program};
}

}  // namespace fabricmark::collectives::all_reduce_ring
