#include <cstddef>

#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::broadcast_chain {

namespace {

/// Each rank passes segments on to the one behind it.
void program(Moves& moves, const Call& call) {
  const Ring ring = ring_of(moves);
  const Segments segments(call, call.result.type);
  const Pacing pacing = pacing_of(call, segments);
  PieceSends sends(moves, ring.next, pacing, call.fan);
  if (moves.rank() != call.root) {
    const std::size_t passed = ring.next == call.root ? 0 : segments.count();
    PieceReceives receives(moves, ring.previous, pacing);
    return pass_on(moves, receives, sends, segments.count(), passed,
                   [&](std::size_t index) { return segments.of(call.result, index); });
  }
  for (std::size_t index = 0; index < segments.count(); ++index) {
    sends.add(segments.of(call.own, index));
    moves.copy(segments.of(call.own, index), segments.of(call.result, index));
  }
  sends.finish();
}

std::size_t buffers(const CostModel& model) {
  return model.buffers_of_pieces(static_cast<std::size_t>(model.segments()), model.segment());
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kBroadcast,
          .name = "chain",
          .reach = Reach::kRing,
          .buffers = buffers,
          .program = program};
}

}  // namespace fabricmark::collectives::broadcast_chain
