#include <algorithm>
#include <cstddef>

#include "fabric/collectives/algorithm.hpp"
#include "fabric/collectives/steps.hpp"

namespace fabricmark::collectives::gather_relay {

namespace {

/// The farthest part passes half of the links of a ring. From a switch the root has one link, for all parts.
double seconds(const Prices& prices) {
  const double farthest = ranks_behind(prices.ranks()) * prices.alone(1, prices.bytes());
  if (prices.sides() > 1) return farthest;
  const double others = (prices.ranks() - 2) * prices.move(prices.bytes());
  return std::max(farthest, others + prices.alone(1, prices.bytes()));
}

/// In both directions round the ring each rank sends its own part to the root, then passes on those behind
/// it.
void program(Moves& moves, const Call& call) {
  const Ring ring = ring_of(moves);
  if (moves.rank() == call.root) {
    const auto part = [&](int distance) {
      return part_of(call.result, behind(call.root, distance, ring.size), call.count);
    };
    Window receives(moves, call.fan);
    for (int distance = 1; distance <= ranks_behind(ring.size); ++distance) {
      receives.add(moves.start_receive(ring.next, part(distance)));
      if (distance <= ranks_before(ring.size))
        receives.add(moves.start_receive(ring.previous, part(-distance)));
    }
    moves.copy(call.own, part(0));
    return receives.finish();
  }
  const Branch branch = branch_of(moves, call.root);
  const auto passed = static_cast<std::size_t>(branch.length - branch.distance);
  const View slots = moves.scratch(std::min(passed, kPassing) * call.count);
  const Moves::Ticket sending = moves.start_send(branch.to_root, call.own);
  pass_on(moves, branch.from_root, branch.to_root, passed, passed,
          [&](std::size_t index) { return slots.part(index % kPassing * call.count, call.count); });
  moves.wait(sending);
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kGather,
          .name = "relay",
          .reach = Reach::kRing,
          .seconds = seconds,
          .program = program};
}

}  // namespace fabricmark::collectives::gather_relay
