#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::all_gather_ring {

namespace {

/// Each rank passes on the part that has come to it last.
/// Thakur et al. (2005), section 4.1.
void program(Moves& moves, const Call& call) {
  const Ring ring = ring_of(moves);
  const auto part = [&](int distance) {
    return part_of(call.result, behind(ring.place, distance, ring.size), call.count);
  };
  moves.copy(call.own, part(0));
  for (int step = 0; step < ring.size - 1; ++step)
    moves.exchange(ring.next, part(-step), ring.previous, part(-step - 1));
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kAllGather, .name = "ring", .reach = Reach::kRing, .program = program};
}

}  // namespace fabricmark::collectives::all_gather_ring
