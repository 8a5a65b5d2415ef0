// All gather: what each rank has comes to all.
#include <array>
#include <cstddef>

#include "collectives/operation_kind.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives {

namespace {
namespace all_gather {

namespace doubling {

/// Partners exchange all that they have, then look for partners twice as far away.
/// Thakur et al. (2005), section 4.1.
void program(Moves& moves, const Call& call) {
  moves.copy(call.own, part_of(call.result, moves.rank(), call.count));
  for (int distance = 1; distance < moves.size(); distance *= 2) {
    const int first = moves.rank() & ~(distance - 1);
    const int partner = moves.rank() ^ distance;
    const std::size_t elements = static_cast<std::size_t>(distance) * call.count;
    const auto parts = [&](int from) { return call.result.part(from * call.count, elements); };
    moves.exchange(partner, parts(first), partner, parts(first ^ distance));
  }
}

constexpr Algorithm kAlgorithm{.name = "recursive_doubling",
                               .is_meant_for = are_power_of_two,
                               .buffers = buffers_of_half,
                               .program = program};

}  // namespace doubling

namespace ring {

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

constexpr Algorithm kAlgorithm{.name = "ring", .reach = Reach::kRing, .program = program};

}  // namespace ring

constexpr std::array kAlgorithms{doubling::kAlgorithm, ring::kAlgorithm};

}  // namespace all_gather
}  // namespace

constinit const OperationKind kinds::all_gather{.name = "all_gather",
                                                .own = Has::kCount,
                                                .result = Has::kAll,
                                                .bus_bytes = bytes_of_others,
                                                .origin = in_turn,
                                                .algorithms = all_gather::kAlgorithms};

}  // namespace fabricmark::collectives
