#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "fabric/collectives/algorithm.hpp"
#include "fabric/collectives/steps.hpp"

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

/// The messages of ranks that are no power of two: some let a neighbour do their part, which begins with a
/// message and ends with one.
double with_stand_ins(const Prices& prices) {
  const Part part(prices.ranks());
  const double bytes = prices.bytes();
  const double at_end = prices.costs().combines_as_it_comes ? 0 : prices.combine(bytes);
  const double first = prices.alone_combining(1, bytes) + (prices.takes_turns() ? prices.move(bytes) : 0);
  std::vector<double> done(static_cast<std::size_t>(part.count));
  std::fill_n(done.begin(), part.stand_ins, first);
  bool is_odd = false;  // sums are made in two memories in turns
  for (int distance = 1; 2 * distance <= prices.ranks(); distance *= 2) {
    const double coming = prices.alone_combining(distance, bytes) - at_end;
    std::vector<double> next(done.size());
    for (std::size_t place = 0; place < done.size(); ++place) {
      const double other = done[place ^ static_cast<std::size_t>(distance)];
      next[place] = std::max(std::max(done[place], other + coming) + at_end,
                             done[place] + prices.move(bytes) + prices.costs().answer_seconds);
    }
    done = std::move(next);
    is_odd = !is_odd;
  }
  const double last = *std::max_element(done.begin(), done.begin() + part.stand_ins) +
                      (is_odd ? prices.copy(bytes) : 0) + prices.alone(1, bytes) + prices.end(bytes);
  return std::max(last, *std::ranges::max_element(done));
}

/// Thakur et al. (2005), section 4.5: lg p (a + m b + m c).
double seconds(const Prices& prices) {
  if (!is_power_of_two(prices.ranks())) return with_stand_ins(prices);
  double all = 0;
  for (int distance = 1; distance < prices.ranks(); distance *= 2)
    all += prices.all_combining(distance, prices.bytes());
  return all;
}

/// Partners exchange what they have combined so far, then look for partners twice as far away. Where the
/// ranks are no power of two, each of the first even ranks lets the one behind it do its part. All combine
/// the same pairs, so that all have the same bits.
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
          .seconds = seconds,
          .program = program};
}

}  // namespace fabricmark::collectives::all_reduce_doubling
