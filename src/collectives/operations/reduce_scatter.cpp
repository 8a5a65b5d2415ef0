// Reduce scatter: each rank gets its part of what all ranks have combined.
#include <algorithm>
#include <array>
#include <cstddef>

#include "collectives/operation_kind.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives {

namespace {
namespace reduce_scatter {

namespace halving {

/// Partners give each other the half of their parts in which they are not, then look for closer partners.
/// Thakur et al. (2005), section 4.4.
void program(Moves& moves, const Call& call) {
  View sum = call.own;
  for (int distance = moves.size() / 2; distance >= 1; distance /= 2) {
    const std::size_t half = static_cast<std::size_t>(distance) * call.count;
    const bool is_upper = (moves.rank() & distance) != 0;
    const View kept = sum.part(is_upper ? half : 0, half);
    const View given = sum.part(is_upper ? 0 : half, half);
    View into = kept;
    if (distance == moves.size() / 2) into = moves.scratch(distance == 1 ? 0 : half);
    if (distance == 1) into = call.result;
    const int partner = moves.rank() ^ distance;
    const Moves::Ticket sending = moves.start_send(partner, given);
    moves.receive_and_combine(partner, kept, into);
    moves.wait(sending);
    sum = into;
  }
}

constexpr Algorithm kAlgorithm{.name = "recursive_halving",
                               .is_meant_for = are_power_of_two,
                               .buffers = buffers_of_half,
                               .program = program};

}  // namespace halving

namespace ring {

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

constexpr Algorithm kAlgorithm{.name = "ring", .reach = Reach::kRing, .program = program};

}  // namespace ring

constexpr std::array kAlgorithms{halving::kAlgorithm, ring::kAlgorithm};

Origin origin(const Call& call, int rank, std::size_t index) { return {0, rank * call.count + index}; }

}  // namespace reduce_scatter
}  // namespace

constinit const OperationKind kinds::reduce_scatter{.name = "reduce_scatter",
                                                    .own = Has::kAll,
                                                    .result = Has::kCount,
                                                    .reduces = true,
                                                    .bus_bytes = bytes_of_others,
                                                    .origin = reduce_scatter::origin,
                                                    .algorithms = reduce_scatter::kAlgorithms};

}  // namespace fabricmark::collectives
