#include <algorithm>
#include <cstddef>

#include "fabric/collectives/algorithm.hpp"
#include "fabric/collectives/steps.hpp"

namespace fabricmark::collectives::scatter_relay {

namespace {

/// The farthest part passes half of the links of a ring. To a switch the root has one link, for all parts.
double seconds(const Prices& prices) {
  const double farthest = ranks_behind(prices.ranks()) * prices.alone(1, prices.bytes());
  if (prices.sides() > 1) return farthest;
  const double others = (prices.ranks() - 2) * (prices.costs().issue_seconds + prices.move(prices.bytes()));
  return std::max(farthest, others + prices.alone(1, prices.bytes()));
}

/// In both directions round the ring each rank passes on what is for those behind it: the farthest's first.
void program(Moves& moves, const Call& call) {
  const Ring ring = ring_of(moves);
  const auto part = [&](int distance) {
    return part_of(call.own, behind(call.root, distance, ring.size), call.count);
  };
  if (moves.rank() == call.root) {
    Window sends(moves, call.fan);
    for (int distance = ranks_behind(ring.size); distance >= 1; --distance) {
      sends.add(moves.start_send(ring.next, part(distance)));
      if (distance <= ranks_before(ring.size)) sends.add(moves.start_send(ring.previous, part(-distance)));
    }
    moves.copy(part(0), call.result);
    return sends.finish();
  }
  const Branch branch = branch_of(moves, call.root);
  const auto passed = static_cast<std::size_t>(branch.length - branch.distance);
  const View slots = moves.scratch(std::min(passed, kPassing) * call.count);
  pass_on(moves, branch.to_root, branch.from_root, passed + 1, passed, [&](std::size_t index) {
    return index == passed ? call.result : slots.part(index % kPassing * call.count, call.count);
  });
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kScatter,
          .name = "relay",
          .reach = Reach::kRing,
          .seconds = seconds,
          .program = program};
}

}  // namespace fabricmark::collectives::scatter_relay
