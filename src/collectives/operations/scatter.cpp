// Scatter: each rank gets its part of what the root has.
#include <algorithm>
#include <array>
#include <cstddef>

#include "collectives/operation_kind.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives {

namespace {
namespace scatter {

namespace flat {

/// The root sends each rank its part, a few at a time.
void program(Moves& moves, const Call& call) {
  if (moves.rank() != call.root) return moves.receive(call.root, call.result);
  Window sends(moves, call.fan);
  for (int distance = 1; distance < moves.size(); ++distance) {
    const int rank = behind(call.root, distance, moves.size());
    sends.add(moves.start_send(rank, part_of(call.own, rank, call.count)));
  }
  moves.copy(part_of(call.own, call.root, call.count), call.result);
  sends.finish();
}

constexpr Algorithm kAlgorithm{.name = "flat", .program = program};

}  // namespace flat

namespace relay {

/// In both directions round the ring each rank passes on what is for those behind it: the farthest's first.
void program(Moves& moves, const Call& call) {
  const Ring ring = ring_of(moves);
  const auto part = [&](int distance) {
    return part_of(call.own, behind(call.root, distance, ring.size), call.count);
  };
  const auto pacing = [&](std::size_t parts) { return Pacing(call.buffers, parts, call.result.bytes()); };
  if (moves.rank() == call.root) {
    PieceSends to_next(moves, ring.next, pacing(ranks_behind(ring.size)), kPassing);
    PieceSends to_previous(moves, ring.previous, pacing(ranks_before(ring.size)), kPassing);
    for (int distance = ranks_behind(ring.size); distance >= 1; --distance) {
      to_next.add(part(distance));
      if (distance <= ranks_before(ring.size)) to_previous.add(part(-distance));
    }
    moves.copy(part(0), call.result);
    to_next.finish();
    return to_previous.finish();
  }
  const Branch branch = branch_of(moves, call.root);
  const auto passed = static_cast<std::size_t>(branch.length - branch.distance);
  const View slots = moves.scratch(std::min(passed, kPlaces) * call.count);
  PieceReceives receives(moves, branch.to_root, pacing(passed + 1));
  PieceSends sends(moves, branch.from_root, pacing(passed), kPassing);
  pass_on(moves, receives, sends, passed + 1, passed, [&](std::size_t index) {
    return index == passed ? call.result : slots.part(index % kPlaces * call.count, call.count);
  });
}

std::size_t buffers(const CostModel& model) {
  return model.buffers_of_pieces(static_cast<std::size_t>(ranks_behind(model.ranks())), model.bytes());
}

constexpr Algorithm kAlgorithm{
    .name = "relay", .reach = Reach::kRing, .buffers = buffers, .program = program};

}  // namespace relay

constexpr std::array kAlgorithms{flat::kAlgorithm, relay::kAlgorithm};

Origin origin(const Call& call, int rank, std::size_t index) {
  return {call.root, rank * call.count + index};
}

}  // namespace scatter
}  // namespace

constinit const OperationKind kinds::scatter{.name = "scatter",
                                             .own = Has::kAllOnRoot,
                                             .result = Has::kCount,
                                             .bus_bytes = bytes_of_others,
                                             .origin = scatter::origin,
                                             .algorithms = scatter::kAlgorithms};

}  // namespace fabricmark::collectives
