#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::reduce_flat {

namespace {

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

/// All may have sent before the root receives.
std::size_t buffers(const CostModel& model) { return model.buffers(model.ranks() - 1); }

}  // namespace

Algorithm make() {
  return {.operation = Operation::kReduce,
          .name = "flat",
          .reach = Reach::kAll,
          .is_meant_for = is_meant_for,
          .buffers = buffers,
          .program = program};
}

}  // namespace fabricmark::collectives::reduce_flat
