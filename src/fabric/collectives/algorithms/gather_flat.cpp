#include <cmath>

#include "fabric/collectives/algorithm.hpp"
#include "fabric/collectives/steps.hpp"

namespace fabricmark::collectives::gather_flat {

namespace {

/// (p - 1) m b at the root's links.
double seconds(const Prices& prices) {
  const int others = prices.ranks() - 1;
  return prices.costs().issue_seconds + prices.costs().message_seconds + prices.farthest() +
         std::ceil(static_cast<double>(others) / prices.sides()) * prices.move(prices.bytes());
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

}  // namespace

Algorithm make() {
  return {.operation = Operation::kGather,
          .name = "flat",
          .reach = Reach::kAll,
          .seconds = seconds,
          .program = program};
}

}  // namespace fabricmark::collectives::gather_flat
