#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::broadcast_binomial {

namespace {

/// Who has the elements sends them to half of the ranks that it answers for, the farthest first.
/// Thakur et al. (2005), section 4.3.
void program(Moves& moves, const Call& call) {
  const int size = moves.size();
  const int place = behind(moves.rank(), -call.root, size);
  int reach = 1;  // this rank answers for those up to `reach` behind it
  while (reach < size && (place & reach) == 0) reach *= 2;
  if (place != 0) moves.receive(behind(moves.rank(), -reach, size), call.result);
  const View& elements = place == 0 ? call.own : call.result;
  Window sends(moves, call.fan);
  for (int distance = reach / 2; distance >= 1; distance /= 2) {
    if (place + distance < size) sends.add(moves.start_send(behind(moves.rank(), distance, size), elements));
  }
  if (place == 0) moves.copy(call.own, call.result);
  sends.finish();
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kBroadcast, .name = "binomial", .reach = Reach::kAll, .program = program};
}

}  // namespace fabricmark::collectives::broadcast_binomial
