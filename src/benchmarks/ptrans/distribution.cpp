#include "benchmarks/ptrans/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabricmark::ptrans {

Distribution Distribution::pq(const common::Grid& grid, std::size_t edge) {
  return {false, grid, static_cast<int>(grid.rows * grid.columns), edge};
}

Distribution Distribution::diagonal(int ranks, std::size_t edge) { return {true, {}, ranks, edge}; }

Distribution Distribution::of(const runtime::Context& context) {
  const std::size_t block = context.parameters().count("block_size");
  const std::size_t edge = (context.parameters().count("size") + block - 1) / block;
  const int ranks = context.ranks().size();
  if (context.parameters().text("distribution") == "diagonal") return diagonal(ranks, edge);
  return pq(common::make_grid(ranks, context.parameters().count("grid_rows")), edge);
}

int Distribution::owner(std::size_t row, std::size_t column) const {
  return is_diagonal_ ? diagonal_owner(row, column) : grid_.owner(row, column);
}

bool Distribution::exchanges() const {
  for (std::size_t row = 0; row < edge_ && ranks_ > 1; ++row) {
    for (std::size_t column = 0; column < row; ++column) {
      if (owner(row, column) != owner(column, row)) return true;
    }
  }
  return false;
}

std::optional<int> Distribution::partner(int rank) const {
  if (is_diagonal_) return other_of_couple(rank);
  if (grid_.rows != grid_.columns) return std::nullopt;
  return grid_.rank_at(grid_.column_of(rank), grid_.row_of(rank));
}

std::string Distribution::name() const {
  if (is_diagonal_) return fmt::format("diagonals over {} ranks", ranks_);
  return fmt::format("a grid of {} x {} ranks", grid_.rows, grid_.columns);
}

int Distribution::other_of_couple(int rank) const {
  const int other = rank % 2 == 0 ? rank + 1 : rank - 1;
  return other < ranks_ ? other : rank;
}

int Distribution::diagonal_owner(std::size_t row, std::size_t column) const {
  const auto owner_of = [&](std::size_t number) {
    return static_cast<int>(number % static_cast<std::size_t>(ranks_));
  };
  const std::size_t distance = (column + edge_ - row) % edge_;
  if (distance == 0) return owner_of(row);  // opposite itself
  // Of two blocks opposite each other, one is on a diagonal below edge / 2; in the middle diagonal of an even
  // number, one is in the upper half.
  const bool is_middle = 2 * distance == edge_;
  const bool is_first = is_middle ? row < column : 2 * distance < edge_;
  if (!is_first) return other_of_couple(diagonal_owner(column, row));
  // The pairs go to the ranks in turn, along one diagonal after the other. The owner of a pair's first block
  // goes through all ranks, so that each gets as many first as second blocks.
  return owner_of((distance - 1) * edge_ + row);
}

}  // namespace fabricmark::ptrans
