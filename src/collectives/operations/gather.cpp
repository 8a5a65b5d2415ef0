// Gather: what each rank has comes to the root.
#include <algorithm>
#include <array>
#include <cstddef>

#include "collectives/operation_kind.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives {

namespace {
namespace gather {

namespace flat {

/// All send to the root, which receives a few at a time: the others wait for it.
void program(Moves& moves, const Call& call) {
  if (moves.rank() != call.root) return moves.send(call.root, call.own);
  Window receives(moves, call.fan);
  for (int distance = 1; distance < moves.size(); ++distance) {
    const int rank = behind(call.root, distance, moves.size());
    receives.add(moves.start_receive(rank, part_of(call.result, rank, call.count)));
  }
  moves.copy(call.own, part_of(call.result, call.root, call.count));
  receives.finish();
}

constexpr Algorithm kAlgorithm{.name = "flat", .buffers = buffers_of_others, .program = program};

}  // namespace flat

namespace relay {

constexpr int kSides = 2;  // from which parts come to the root

/// In both directions round the ring each rank sends its own part to the root, then passes on those behind
/// it.
void program(Moves& moves, const Call& call) {
  const Ring ring = ring_of(moves);
  const auto pacing = [&](std::size_t parts) {
    return Pacing(call.buffers, parts, call.own.bytes(), kSides);
  };
  if (moves.rank() == call.root) {
    const auto part = [&](int distance) {
      return part_of(call.result, behind(call.root, distance, ring.size), call.count);
    };
    PieceReceives from_next(moves, ring.next, pacing(ranks_behind(ring.size)));
    PieceReceives from_previous(moves, ring.previous, pacing(ranks_before(ring.size)));
    Window window(moves, call.fan);
    for (int distance = 1; distance <= ranks_behind(ring.size); ++distance) {
      window.add(from_next.start(part(distance)), [&] { from_next.came(); });
      if (distance <= ranks_before(ring.size))
        window.add(from_previous.start(part(-distance)), [&] { from_previous.came(); });
    }
    moves.copy(call.own, part(0));
    window.finish();
    from_next.finish();
    return from_previous.finish();
  }
  const Branch branch = branch_of(moves, call.root);
  const auto passed = static_cast<std::size_t>(branch.length - branch.distance);
  const View slots = moves.scratch(std::min(passed, kPlaces) * call.count);
  PieceReceives receives(moves, branch.from_root, pacing(passed));
  PieceSends sends(moves, branch.to_root, pacing(passed + 1), kPassing);
  sends.add(call.own);
  pass_on(moves, receives, sends, passed, passed,
          [&](std::size_t index) { return slots.part(index % kPlaces * call.count, call.count); });
}

std::size_t buffers(const CostModel& model) {
  return model.buffers_of_pieces(static_cast<std::size_t>(ranks_behind(model.ranks())), model.bytes(),
                                 kSides);
}

constexpr Algorithm kAlgorithm{
    .name = "relay", .reach = Reach::kRing, .buffers = buffers, .program = program};

}  // namespace relay

constexpr std::array kAlgorithms{flat::kAlgorithm, relay::kAlgorithm};

}  // namespace gather
}  // namespace

constinit const OperationKind kinds::gather{.name = "gather",
                                            .own = Has::kCount,
                                            .result = Has::kAllOnRoot,
                                            .bus_bytes = bytes_of_others,
                                            .origin = in_turn,
                                            .algorithms = gather::kAlgorithms};

}  // namespace fabricmark::collectives
