#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::broadcast_flat {

namespace {

bool is_meant_for(const Problem& problem) { return problem.ranks <= 3; }

/// The root sends to all.
void program(Moves& moves, const Call& call) {
  if (moves.rank() != call.root) return moves.receive(call.root, call.result);
  Window sends(moves, call.fan);
  for (int distance = 1; distance < moves.size(); ++distance) {
    sends.add(moves.start_send(behind(call.root, distance, moves.size()), call.own));
  }
  moves.copy(call.own, call.result);
  sends.finish();
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kBroadcast,
          .name = "flat",
          .reach = Reach::kAll,
          .is_meant_for = is_meant_for,
          .program = program};
}

}  // namespace fabricmark::collectives::broadcast_flat
