// All reduce: what all ranks have is combined on all.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "collectives/operation_kind.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives {

namespace {
namespace all_reduce {

namespace doubling {

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
  // What is sent must stay, so that sums are made alternately in the result and in the spare memory.
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

constexpr Algorithm kAlgorithm{.name = "recursive_doubling", .program = program};

}  // namespace doubling

namespace ring {

/// Sums of shares go round the ring, then the shares.
/// Thakur et al. (2005), section 4.5.
void program(Moves& moves, const Call& call) {
  const Ring ring = ring_of(moves);
  reduce_shares(moves, ring, call.own, call.result);
  gather_shares(moves, ring, call.result);
}

std::size_t buffers(const CostModel& model) { return model.buffers(1, 1.0 / model.ranks()); }

constexpr Algorithm kAlgorithm{.name = "ring", .reach = Reach::kRing, .buffers = buffers, .program = program};

}  // namespace ring

namespace two_phase {

/// Sums of shares go round the rows, then those of their shares round the columns, and back.
void program(Moves& moves, const Call& call) {
  const int columns = call.shape.columns;
  const int rows = call.shape.rows;
  const int row = moves.rank() / columns;
  const int column = moves.rank() % columns;
  const int first = row * columns;
  const Ring in_row{column, columns, first + behind(column, 1, columns), first + behind(column, -1, columns)};
  const Ring in_column{row, rows, behind(row, 1, rows) * columns + column,
                       behind(row, -1, rows) * columns + column};
  if (columns == 1) {
    reduce_shares(moves, in_column, call.own, call.result);
    return gather_shares(moves, in_column, call.result);
  }
  reduce_shares(moves, in_row, call.own, call.result);
  const View share = share_of(call.result, behind(column, 1, columns), columns);
  reduce_shares(moves, in_column, share, share);
  gather_shares(moves, in_column, share);
  gather_shares(moves, in_row, call.result);
}

std::size_t buffers(const CostModel& model) {
  const Shape& shape = model.shape();
  return model.buffers(1, 1.0 / (shape.columns > 1 ? shape.columns : shape.rows));
}

constexpr Algorithm kAlgorithm{
    .name = "two_phase", .reach = Reach::kTorus, .buffers = buffers, .program = program};

}  // namespace two_phase

constexpr std::array kAlgorithms{doubling::kAlgorithm, ring::kAlgorithm, two_phase::kAlgorithm};

double bus_bytes(double of_one, int ranks) { return of_one * 2 * (ranks - 1) / ranks; }

}  // namespace all_reduce
}  // namespace

constinit const OperationKind kinds::all_reduce{.name = "all_reduce",
                                                .own = Has::kCount,
                                                .result = Has::kCount,
                                                .reduces = true,
                                                .bus_bytes = all_reduce::bus_bytes,
                                                .origin = of_all,
                                                .algorithms = all_reduce::kAlgorithms};

}  // namespace fabricmark::collectives
