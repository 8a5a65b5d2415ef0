// Broadcast: what the root has comes to all.
#include <array>
#include <cstddef>

#include "collectives/operation_kind.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives {

namespace {
namespace broadcast {

namespace binomial {

/// Who has the elements sends them to half of the ranks that it answers for, the farthest first.
/// Thakur et al. (2005), section 4.3.
void program(Moves& moves, const Call& call) {
  const int size = moves.size();
  const int place = behind(moves.rank(), -call.root, size);
  int reach = 1;  // this rank answers for those up to `reach` behind it
  while (reach < size && (place & reach) == 0) reach *= 2;
  if (place != 0) moves.receive(behind(moves.rank(), -reach, size), call.result);
  const View& elements = place == 0 ? call.own : call.result;
  Window sends(moves, call.fan);
  for (int distance = reach / 2; distance >= 1; distance /= 2) {
    if (place + distance < size) sends.add(moves.start_send(behind(moves.rank(), distance, size), elements));
  }
  if (place == 0) moves.copy(call.own, call.result);
  sends.finish();
}

constexpr Algorithm kAlgorithm{.name = "binomial", .program = program};

}  // namespace binomial

namespace chain {

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

constexpr Algorithm kAlgorithm{
    .name = "chain", .reach = Reach::kRing, .buffers = buffers_of_segments, .program = program};

}  // namespace chain

namespace flat {

bool is_meant_for(const Problem& problem) { return problem.ranks <= 3; }

/// The root sends to all.
void program(Moves& moves, const Call& call) {
  if (moves.rank() != call.root) return moves.receive(call.root, call.result);
  Window sends(moves, call.fan);
  for (int distance = 1; distance < moves.size(); ++distance) {
    sends.add(moves.start_send(behind(call.root, distance, moves.size()), call.own));
  }
  moves.copy(call.own, call.result);
  sends.finish();
}

constexpr Algorithm kAlgorithm{.name = "flat", .is_meant_for = is_meant_for, .program = program};

}  // namespace flat

constexpr std::array kAlgorithms{binomial::kAlgorithm, chain::kAlgorithm, flat::kAlgorithm};

Origin origin(const Call& call, int /*rank*/, std::size_t index) { return {call.root, index}; }

}  // namespace broadcast
}  // namespace

constinit const OperationKind kinds::broadcast{.name = "broadcast",
                                               .own = Has::kCountOnRoot,
                                               .result = Has::kCount,
                                               .bus_bytes = bytes_once,
                                               .origin = broadcast::origin,
                                               .algorithms = broadcast::kAlgorithms};

}  // namespace fabricmark::collectives
