#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::gather_flat {

namespace {

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
std::size_t buffers(const CostModel& model) { return model.buffers(model.ranks() - 1); }

}  // namespace

Algorithm make() {
  return {.operation = Operation::kGather,
          .name = "flat",
          .reach = Reach::kAll,
          .buffers = buffers,
          .program = program};
}

}  // namespace fabricmark::collectives::gather_flat
