#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::all_reduce_doubling {

namespace {

/// The ranks that take part, which are a power of two.
struct Part {
  explicit Part(int ranks) : count(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))) {
    stand_ins = ranks - count;
  }
  [[nodiscard]] bool has_stand_in(int rank) const { return rank < 2 * stand_ins && rank % 2 == 0; }
  [[nodiscard]] int place_of(int rank) const { return rank < 2 * stand_ins ? rank / 2 : rank - stand_ins; }
  [[nodiscard]] int rank_at(int place) const { return place < stand_ins ? 2 * place + 1 : place + stand_ins; }
  int count;
  int stand_ins = 0;
};

/// Partners exchange what they have combined so far, then look for partners twice as far away. Where the
/// ranks are no power of two, each of the first even ranks lets the one behind it do its part. All combine
/// the same pairs, so that all have the same bits.
/// Thakur et al. (2005), section 4.5.
void program(Moves& moves, const Call& call) {
  const int rank = moves.rank();
  const Part part(moves.size());
  if (part.has_stand_in(rank)) {
    moves.send(rank + 1, call.own);
    return moves.receive(rank + 1, call.result);
  }
  const bool is_stand_in = rank < 2 * part.stand_ins;
  const View spare = moves.scratch(call.count);
  bool is_odd = std::countr_zero(static_cast<unsigned>(part.count)) % 2 == 1;  // of the steps to come
  // What is sent must stay, so that sums are made in turns in the result and in the spare memory.
  bool in_result = is_stand_in || is_same(call.own, call.result);
  const bool begins_elsewhere = !in_result;
  View sum = call.own;
  if (is_stand_in) {
    moves.receive_and_combine(rank - 1, call.own, call.result);
    sum = call.result;
  }
  if (begins_elsewhere) in_result = !is_odd;  // so that the last is made in the result
  for (int distance = 1; distance < part.count; distance *= 2) {
    const int partner = part.rank_at(part.place_of(rank) ^ distance);
    in_result = !in_result;
    const View& into = in_result ? call.result : spare;
    const Moves::Ticket sending = moves.start_send(partner, sum);
    moves.receive_and_combine(partner, sum, into);
    moves.wait(sending);
    sum = into;
  }
  if (!in_result) moves.copy(sum, call.result);
  if (is_stand_in) moves.send(rank - 1, call.result);
}

}  // namespace

Algorithm make() {
  return {.operation = Operation::kAllReduce,
          .name = "recursive_doubling",
          .reach = Reach::kAll,
          .program = program};
}

}  // namespace fabricmark::collectives::all_reduce_doubling
