#include "collectives/algorithm.hpp"
#include "collectives/steps.hpp"

namespace fabricmark::collectives::all_reduce_two_phase {

namespace {

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

}  // namespace

Algorithm make() {
  return {.operation = Operation::kAllReduce,
          .name = "two_phase",
          .reach = Reach::kTorus,
          .buffers = buffers,
          .program = program};
}

}  // namespace fabricmark::collectives::all_reduce_two_phase
