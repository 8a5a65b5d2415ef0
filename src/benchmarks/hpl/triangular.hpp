#pragma once

#include <algorithm>

#include "base/parallel.hpp"
#include "benchmarks/hpl/dot.hpp"
#include "benchmarks/hpl/vectors.hpp"
#include "transport/messages.hpp"

namespace fabricmark::hpl {

/// Solves L U x = b over all ranks, block by block, with the factors as Layout lays them out. Arithmetic is
/// in double precision, whatever T is. Each element of the factors is read once.
///
/// In step s the rank with the diagonal block of block row s adds up what the ranks of its grid row have for
/// that row, solves the block, and sends its part of x down its grid column. Ahead of that, the grid row of s
/// takes block row s + P in hand with all of x that it has, as long rows; only the newest P - 1 parts of x
/// are added block by block as they come. So all ranks of a column of the grid are at work at a time.
template <typename T>
class TriangularSolver {
 public:
  TriangularSolver(const Vectors& vectors, const T* factors)
      : vectors_(vectors), layout_(vectors.layout()), factors_(factors) {}

  /// Turns b into x, each divided as Vectors says.
  void solve(std::span<double> x) const {
    sweep(x, true);
    sweep(x, false);
  }

 private:
  /// One of the two systems: L y = b from the first block to the last, or U x = y from the last to the first.
  void sweep(std::span<double> x, bool forward) const {
    Sweep sweep{.x = x,
                .sums = std::vector<double>(layout_.local_rows()),
                .arrived = std::vector<double>(layout_.block * (layout_.grid.columns - 1)),
                .forward = forward,
                .messages = {vectors_.ranks(), vectors_.timeout_seconds()}};
    const std::size_t blocks = layout_.blocks();
    const std::size_t ahead = layout_.grid.rows;
    for (std::size_t step = 0; step < blocks; ++step) {
      const std::size_t block = sweep.block(step, blocks);
      finish_block(sweep, block);
      for (std::size_t next = step + 1; next < std::min(step + ahead, blocks); ++next) {
        if (holds_column(block)) add_block(sweep, sweep.block(next, blocks), block);
      }
      if (step + ahead < blocks) add_row(sweep, sweep.block(step + ahead, blocks), block);
    }
    sweep.messages.wait_all();
  }

  struct Sweep {
    std::span<double> x;
    std::vector<double> sums;     ///< for each of the rank's rows, of the factors times what is known of x
    std::vector<double> arrived;  ///< the other ranks' sums for one block
    bool forward;
    transport::Messages messages;
    [[nodiscard]] std::size_t block(std::size_t step, std::size_t blocks) const {
      return forward ? step : blocks - 1 - step;
    }
  };

  [[nodiscard]] bool holds_row(std::size_t block) const {
    return block % layout_.grid.rows == layout_.grid_row();
  }
  [[nodiscard]] bool holds_column(std::size_t block) const {
    return block % layout_.grid.columns == layout_.grid_column();
  }
  [[nodiscard]] std::size_t local_row(std::size_t block) const {
    return block / layout_.grid.rows * layout_.block;
  }
  [[nodiscard]] std::size_t local_column(std::size_t block) const {
    return block / layout_.grid.columns * layout_.block;
  }
  [[nodiscard]] const T* row(std::size_t local) const { return factors_ + local * layout_.local_columns(); }

  /// The part of x of one block, on all ranks that hold its columns.
  void finish_block(Sweep& sweep, std::size_t block) const {
    constexpr std::size_t kTags = 32768;
    const auto tag = static_cast<int>(block % kTags);
    const int owner = layout_.grid.owner(block, block);
    const std::span<double> part =
        holds_column(block) ? sweep.x.subspan(local_column(block), layout_.block) : std::span<double>();
    if (holds_row(block) && holds_column(block)) {
      subtract_sums(sweep, block, part, tag);
      solve_diagonal(block, part, sweep.forward);
      for (std::size_t row = 0; row < layout_.grid.rows; ++row) {
        if (row == layout_.grid_row()) continue;
        sweep.messages.send(layout_.grid.rank_at(row, layout_.grid_column()), std::as_bytes(part), tag);
      }
    } else if (holds_row(block)) {
      const std::span<const double> sums(sweep.sums.data() + local_row(block), layout_.block);
      sweep.messages.send(owner, std::as_bytes(sums), tag);
    } else if (holds_column(block)) {
      sweep.messages.wait(sweep.messages.receive(owner, std::as_writable_bytes(part), tag));
    }
  }

  void subtract_sums(Sweep& sweep, std::size_t block, std::span<double> part, int tag) const {
    std::vector<std::size_t> positions;
    std::span<double> rest(sweep.arrived);
    for (std::size_t column = 0; column < layout_.grid.columns; ++column) {
      if (column == layout_.grid_column()) continue;
      const int from = layout_.grid.rank_at(layout_.grid_row(), column);
      positions.push_back(sweep.messages.receive(from, std::as_writable_bytes(rest.first(part.size())), tag));
      rest = rest.subspan(part.size());
    }
    const double* const own = sweep.sums.data() + local_row(block);
    for (std::size_t i = 0; i < part.size(); ++i) part[i] -= own[i];
    for (std::size_t other = 0; other < positions.size(); ++other) {
      sweep.messages.wait(positions[other]);
      for (std::size_t i = 0; i < part.size(); ++i) part[i] -= sweep.arrived[other * part.size() + i];
    }
  }

  void solve_diagonal(std::size_t block, std::span<double> part, bool forward) const {
    const std::size_t first = local_row(block);
    const std::size_t column = local_column(block);
    for (std::size_t step = 0; step < part.size(); ++step) {
      const std::size_t i = forward ? step : part.size() - 1 - step;
      const T* const elements = row(first + i) + column;
      if (forward) {
        part[i] -= dot(elements, part.data(), i);
      } else {
        part[i] -= dot(elements + i + 1, part.data() + i + 1, part.size() - i - 1);
        part[i] /= static_cast<double>(elements[i]);
      }
    }
  }

  /// Adds one block of the factors times its part of x to the sums.
  void add_block(Sweep& sweep, std::size_t block_row, std::size_t block_column) const {
    if (!holds_row(block_row)) return;
    const std::size_t column = local_column(block_column);
    add(sweep, block_row, column, column + layout_.block);
  }

  /// Adds all of a block row from the first block of the sweep to `last`.
  void add_row(Sweep& sweep, std::size_t block_row, std::size_t last) const {
    if (!holds_row(block_row)) return;
    if (sweep.forward) {
      add(sweep, block_row, 0, columns_below(layout_, (last + 1) * layout_.block));
    } else {
      add(sweep, block_row, columns_below(layout_, last * layout_.block), layout_.local_columns());
    }
  }

  void add(Sweep& sweep, std::size_t block_row, std::size_t first, std::size_t end) const {
    const std::size_t start = local_row(block_row);
    const std::size_t least = rows_worth_a_thread(end - first);
    parallel_for(layout_.block, vectors_.threads(), least, [&](std::size_t begin, std::size_t stop) {
      for (std::size_t i = begin; i < stop; ++i) {
        sweep.sums[start + i] += dot(row(start + i) + first, sweep.x.data() + first, end - first);
      }
    });
  }

  const Vectors& vectors_;
  Layout layout_;
  const T* factors_;
};

}  // namespace fabricmark::hpl
