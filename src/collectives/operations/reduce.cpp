// Reduce: what all ranks have is combined on the root.
#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "collectives/operation_kind.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives {

namespace {
namespace reduce {

namespace binomial {

/// Each rank combines what ranks 1, 2, 4... behind it send, and sends the result on.
/// Thakur et al. (2005), section 4.5.
void program(Moves& moves, const Call& call) {
  const int size = moves.size();
  const int place = behind(moves.rank(), -call.root, size);
  const bool has_children = place % 2 == 0 && place + 1 < size;
  View sum = call.result;
  if (place != 0) sum = moves.scratch(has_children ? call.count : 0);
  View so_far = call.own;
  int distance = 1;
  for (; distance < size && (place & distance) == 0; distance *= 2) {
    if (place + distance >= size) continue;
    moves.receive_and_combine(behind(moves.rank(), distance, size), so_far, sum);
    so_far = sum;
  }
  if (place != 0) moves.send(behind(moves.rank(), -distance, size), so_far);
}

constexpr Algorithm kAlgorithm{.name = "binomial", .program = program};

}  // namespace binomial

namespace flat {

bool is_meant_for(const Problem& problem) {
  return problem.ranks <= 4 || problem.bytes <= std::size_t{32} * 1024;
}

/// All send to the root, which combines what has come, a few messages at a time.
void program(Moves& moves, const Call& call) {
  if (moves.rank() != call.root) return moves.send(call.root, call.own);
  const std::size_t others = moves.size() - 1;
  const std::size_t slots = std::clamp<std::size_t>(call.fan, 1, others);
  const View scratch = moves.scratch(slots * call.count);
  const auto slot = [&](std::size_t index) { return scratch.part(index % slots * call.count, call.count); };
  std::vector<Moves::Ticket> coming;
  const auto start = [&] {
    const int rank = behind(call.root, 1 + static_cast<int>(coming.size()), moves.size());
    coming.push_back(moves.start_receive(rank, slot(coming.size())));
  };
  while (coming.size() < slots) start();
  for (std::size_t index = 0; index < others; ++index) {
    moves.wait(coming[index]);
    moves.combine(slot(index), index == 0 ? call.own : call.result, call.result);
    if (coming.size() < others) start();
  }
}

constexpr Algorithm kAlgorithm{
    .name = "flat", .is_meant_for = is_meant_for, .buffers = buffers_of_others, .program = program};

}  // namespace flat

namespace ring {

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

constexpr Algorithm kAlgorithm{
    .name = "ring", .reach = Reach::kRing, .buffers = buffers_of_segments, .program = program};

}  // namespace ring

constexpr std::array kAlgorithms{binomial::kAlgorithm, flat::kAlgorithm, ring::kAlgorithm};

}  // namespace reduce
}  // namespace

constinit const OperationKind kinds::reduce{.name = "reduce",
                                            .own = Has::kCount,
                                            .result = Has::kCountOnRoot,
                                            .reduces = true,
                                            .bus_bytes = bytes_once,
                                            .origin = of_all,
                                            .algorithms = reduce::kAlgorithms};

}  // namespace fabricmark::collectives
