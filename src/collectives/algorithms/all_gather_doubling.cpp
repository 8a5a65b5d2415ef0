#include <cstddef>

#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::all_gather_doubling {

namespace {

bool is_meant_for(const Problem& problem) { return is_power_of_two(problem.ranks); }

/// Partners exchange all that they have, then look for partners twice as far away.
/// Thakur et al. (2005), section 4.1.
void program(Moves& moves, const Call& call) {
  moves.copy(call.own, part_of(call.result, moves.rank(), call.count));
  for (int distance = 1; distance < moves.size(); distance *= 2) {
    const int first = moves.rank() & ~(distance - 1);
    const int partner = moves.rank() ^ distance;
    const std::size_t elements = static_cast<std::size_t>(distance) * call.count;
    const auto parts = [&](int from) { return call.result.part(from * call.count, elements); };
    moves.exchange(partner, parts(first), partner, parts(first ^ distance));
  }
}

/// Of its longest message.
std::size_t buffers(const CostModel& model) { return model.buffers(1, model.ranks() / 2.0); }

}  // namespace

Algorithm make() {
  return {.operation = Operation::kAllGather,
          .name = "recursive_doubling",
          .reach = Reach::kAll,
          .is_meant_for = is_meant_for,
          .buffers = buffers,
          .program = program};
}

}  // namespace fabricmark::collectives::all_gather_doubling
