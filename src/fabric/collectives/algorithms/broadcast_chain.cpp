#include <cstddef>

#include "fabric/collectives/algorithm.hpp"
#include "fabric/collectives/steps.hpp"

namespace fabricmark::collectives::broadcast_chain {

namespace {

/// The first segment passes p - 1 links, the others come behind it: as fast as they are moved and copied.
double seconds(const Prices& prices) {
  const double more =
      std::max(prices.costs().issue_seconds + prices.move(prices.segment()), prices.copy(prices.segment()));
  return (prices.ranks() - 1) * prices.alone(1, prices.segment()) + (prices.segments() - 1) * more +
         prices.end(prices.segment());
}

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

std::size_t buffers(const Prices& prices) {
  return prices.buffers_of_pieces(static_cast<std::size_t>(prices.segments()), prices.segment());
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kBroadcast,
          .name = "chain",
          .reach = Reach::kRing,
          .buffers = buffers,
          .seconds = seconds,
          .program = program};
}

}  // namespace fabricmark::collectives::broadcast_chain
