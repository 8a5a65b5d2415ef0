#include <algorithm>
#include <cstddef>

#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::reduce_scatter_ring {

namespace {

/// The sum of each part goes round the ring, from behind its rank on, and each rank adds its own.
void program(Moves& moves, const Call& call) {
  const Ring ring = ring_of(moves);
  const auto part = [&](int distance) {
    return part_of(call.own, behind(ring.place, distance, ring.size), call.count);
  };
  const int last = ring.size - 2;
  const View slots = moves.scratch(static_cast<std::size_t>(std::min(last, 2)) * call.count);
  View sum = part(-1);
  for (int step = 0; step <= last; ++step) {
    const View into = step == last ? call.result : part_of(slots, step % 2, call.count);
    const Moves::Ticket sending = moves.start_send(ring.next, sum);
    moves.receive_and_combine(ring.previous, part(-step - 2), into);
    moves.wait(sending);
    sum = into;
  }
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kReduceScatter, .name = "ring", .reach = Reach::kRing, .program = program};
}

}  // namespace fabricmark::collectives::reduce_scatter_ring
