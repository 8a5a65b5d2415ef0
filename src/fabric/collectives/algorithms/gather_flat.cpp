#include "fabric/collectives/algorithm.hpp"
#include "fabric/collectives/steps.hpp"

namespace fabricmark::collectives::gather_flat {

namespace {

/// (p - 1) m b at the root's links. Long messages all end at the end, and are stored one after the other.
double seconds(const Prices& prices) {
  const int copies = prices.takes_turns() ? prices.ranks() - 1 : 1;
  return prices.costs().issue_seconds + prices.to_farthest() + prices.at_root() +
         copies * prices.store(prices.bytes()) + prices.turns() * prices.costs().copy_seconds +
         prices.end(prices.bytes());
}

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

/// All may have sent before the root receives.
std::size_t buffers(const Prices& prices) { return prices.buffers(prices.ranks() - 1); }

}  // namespace

Algorithm make() {
  return {.operation = Operation::kGather,
          .name = "flat",
          .reach = Reach::kAll,
          .buffers = buffers,
          .seconds = seconds,
          .program = program};
}

}  // namespace fabricmark::collectives::gather_flat
