#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::barrier_neighbours {

namespace {

/// Both neighbours on a ring hear in each step of one rank more on either side.
void program(Moves& moves, const Call& /*call*/) {
  const Ring ring = ring_of(moves);
  for (int step = 0; step < ranks_behind(ring.size); ++step) {
    const Moves::Ticket from_previous = moves.start_receive(ring.previous, {});
    const Moves::Ticket from_next = moves.start_receive(ring.next, {});
    const Moves::Ticket to_next = moves.start_send(ring.next, {});
    const Moves::Ticket to_previous = moves.start_send(ring.previous, {});
    for (const Moves::Ticket ticket : {from_previous, from_next, to_next, to_previous}) moves.wait(ticket);
  }
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kBarrier, .name = "neighbours", .reach = Reach::kRing, .program = program};
}

}  // namespace fabricmark::collectives::barrier_neighbours
