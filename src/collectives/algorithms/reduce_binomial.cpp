#include <algorithm>

#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::reduce_binomial {

namespace {

/// Each rank combines what ranks 1, 2, 4... behind it send, and sends the result on.
/// Thakur et al. (2005), section 4.5.
void program(Moves& moves, const Call& call) {
  const int size = moves.size();
  const int place = behind(moves.rank(), -call.root, size);
  const bool has_children = place % 2 == 0 && place + 1 < size;
  View sum = call.result;
  if (place != 0) sum = moves.scratch(has_children ? call.count : 0);
  View so_far = call.own;
  int distance = 1;
  for (; distance < size && (place & distance) == 0; distance *= 2) {
    if (place + distance >= size) continue;
    moves.receive_and_combine(behind(moves.rank(), distance, size), so_far, sum);
    so_far = sum;
  }
  if (place != 0) moves.send(behind(moves.rank(), -distance, size), so_far);
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kReduce, .name = "binomial", .reach = Reach::kAll, .program = program};
}

}  // namespace fabricmark::collectives::reduce_binomial
