#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::scatter_flat {

namespace {

/// The root sends each rank its part, a few at a time.
void program(Moves& moves, const Call& call) {
  if (moves.rank() != call.root) return moves.receive(call.root, call.result);
  Window sends(moves, call.fan);
  for (int distance = 1; distance < moves.size(); ++distance) {
    const int rank = behind(call.root, distance, moves.size());
    sends.add(moves.start_send(rank, part_of(call.own, rank, call.count)));
  }
  moves.copy(part_of(call.own, call.root, call.count), call.result);
  sends.finish();
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kScatter, .name = "flat", .reach = Reach::kAll, .program = program};
}

}  // namespace fabricmark::collectives::scatter_flat
