#include <algorithm>
#include <cstddef>

#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::reduce_ring {

namespace {

/// From the farthest rank behind the root on each combines segments with its own, and sends them on.
void program(Moves& moves, const Call& call) {
  const Ring ring = ring_of(moves);
  const Segments segments(call, call.own.type);
  const std::size_t places = 1 + std::max<std::size_t>(call.fan, 1);  // one is filled while others are sent
  const bool is_root = moves.rank() == call.root;
  const bool is_last = ring.next == call.root;
  View slots;
  if (!is_root && !is_last) slots = moves.scratch(std::min(segments.count(), places) * segments.size());
  const Pacing pacing = pacing_of(call, segments);
  PieceSends sends(moves, ring.previous, pacing, call.fan);
  PieceReceives receives(moves, ring.next, pacing);
  for (std::size_t index = 0; index < segments.count(); ++index) {
    View piece = segments.of(call.own, index);
    if (!is_last) {
      const View into = is_root ? segments.of(call.result, index)
                                : slots.part(index % places * segments.size(), piece.count);
      moves.receive_and_combine(ring.next, piece, into);
      receives.came();
      piece = into;
    }
    if (!is_root) sends.add(piece);
  }
  sends.finish();
  receives.finish();
}

std::size_t buffers(const CostModel& model) {
  return model.buffers_of_pieces(static_cast<std::size_t>(model.segments()), model.segment());
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kReduce,
          .name = "ring",
          .reach = Reach::kRing,
          .buffers = buffers,
          .program = program};
}

}  // namespace fabricmark::collectives::reduce_ring
