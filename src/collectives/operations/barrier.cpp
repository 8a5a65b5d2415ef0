// Barrier: no rank goes on before all have come.
#include <array>

#include "collectives/operation_kind.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives {

namespace {
namespace barrier {

namespace dissemination {

/// Ranks 1, 2, 4... behind each one hear that it has come, and of all of which it has heard (Hensgen, Finkel
/// and Manber, "Two Algorithms for Barrier Synchronization", 1988).
void program(Moves& moves, const Call& /*call*/) {
  const int size = moves.size();
  for (int distance = 1; distance < size; distance *= 2) {
    moves.exchange(behind(moves.rank(), distance, size), {}, behind(moves.rank(), -distance, size), {});
  }
}

constexpr Algorithm kAlgorithm{.name = "dissemination", .program = program};

}  // namespace dissemination

namespace neighbours {

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

constexpr Algorithm kAlgorithm{.name = "neighbours", .reach = Reach::kRing, .program = program};

}  // namespace neighbours

constexpr std::array kAlgorithms{dissemination::kAlgorithm, neighbours::kAlgorithm};

double bus_bytes(double /*of_one*/, int /*ranks*/) { return 0; }

}  // namespace barrier
}  // namespace

constinit const OperationKind kinds::barrier{.name = "barrier",
                                             .own = Has::kNothing,
                                             .result = Has::kNothing,
                                             .bus_bytes = barrier::bus_bytes,
                                             .origin = of_all,
                                             .algorithms = barrier::kAlgorithms};

}  // namespace fabricmark::collectives
