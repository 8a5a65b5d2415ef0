#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::barrier_dissemination {

namespace {

/// Ranks 1, 2, 4... behind each one hear that it has come, and of all of which it has heard (Hensgen, Finkel
/// and Manber, "Two Algorithms for Barrier Synchronization", 1988).
void program(Moves& moves, const Call& /*call*/) {
  const int size = moves.size();
  for (int distance = 1; distance < size; distance *= 2) {
    moves.exchange(behind(moves.rank(), distance, size), {}, behind(moves.rank(), -distance, size), {});
  }
}

}  // namespace

Algorithm make() {
  return {
      .operation = Operation::kBarrier, .name = "dissemination", .reach = Reach::kAll, .program = program};
}

}  // namespace fabricmark::collectives::barrier_dissemination
