#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::all_to_all_pairwise {

namespace {

/// In each step every rank exchanges parts with one other: powers of two in pairs, else in a round.
/// Thakur et al. (2005), section 4.2.
void program(Moves& moves, const Call& call) {
  const int size = moves.size();
  const int rank = moves.rank();
  View own = call.own;
  if (is_same(call.own, call.result)) {  // parts that came would lie on those that have not left
    own = moves.scratch(call.own.count);
    moves.copy(call.own, own);
  }
  moves.copy(part_of(own, rank, call.count), part_of(call.result, rank, call.count));
  for (int distance = 1; distance < size; ++distance) {
    const int to = is_power_of_two(size) ? rank ^ distance : behind(rank, distance, size);
    const int from = is_power_of_two(size) ? to : behind(rank, -distance, size);
    moves.exchange(to, part_of(own, to, call.count), from, part_of(call.result, from, call.count));
  }
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kAllToAll, .name = "pairwise", .reach = Reach::kAll, .program = program};
}

}  // namespace fabricmark::collectives::all_to_all_pairwise
