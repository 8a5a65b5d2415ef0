#include <cstddef>

#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::reduce_scatter_halving {

namespace {

bool is_meant_for(const Problem& problem) { return is_power_of_two(problem.ranks); }

/// Partners give each other the half of their parts in which they are not, then look for closer partners.
/// Thakur et al. (2005), section 4.4.
void program(Moves& moves, const Call& call) {
  View sum = call.own;
  for (int distance = moves.size() / 2; distance >= 1; distance /= 2) {
    const std::size_t half = static_cast<std::size_t>(distance) * call.count;
    const bool is_upper = (moves.rank() & distance) != 0;
    const View kept = sum.part(is_upper ? half : 0, half);
    const View given = sum.part(is_upper ? 0 : half, half);
    View into = kept;
    if (distance == moves.size() / 2) into = moves.scratch(distance == 1 ? 0 : half);
    if (distance == 1) into = call.result;
    const int partner = moves.rank() ^ distance;
    const Moves::Ticket sending = moves.start_send(partner, given);
    moves.receive_and_combine(partner, kept, into);
    moves.wait(sending);
    sum = into;
  }
}

/// Of its longest message.
std::size_t buffers(const CostModel& model) { return model.buffers(1, model.ranks() / 2.0); }

}  // namespace

Algorithm make() {
  return {.operation = Operation::kReduceScatter,
          .name = "recursive_halving",
          .reach = Reach::kAll,
          .is_meant_for = is_meant_for,
          .buffers = buffers,
          .program = program};
}

}  // namespace fabricmark::collectives::reduce_scatter_halving
