#pragma once

#include <cstdint>
#include <vector>

#include "stencil/problem.hpp"

namespace fabricmark::stencil {

/// The rows of a grid that a rank has.
struct Part {
  std::size_t first_row = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t fields = 0;

  [[nodiscard]] std::size_t cells() const { return rows * columns; }
  [[nodiscard]] std::size_t numbers() const { return cells() * fields; }
  /// Of a row of the grid.
  [[nodiscard]] bool has(std::size_t row) const { return row >= first_row && row < first_row + rows; }
  /// Of a number in a state: field by field, row by row.
  [[nodiscard]] std::size_t at(std::size_t field, std::size_t row, std::size_t column) const {
    return (field * rows + row) * columns + column;
  }
};

/// Bands of rows, the first ones a row longer where they cannot all be alike.
Part part_of(const Problem& problem, int ranks, int rank);

/// All rows on the first rank, and none on the others.
Part all_on_first(const Problem& problem, int ranks, int rank);

/// The state of a part at the start.
std::vector<double> start_of(const Problem& problem, const Part& part);

/// The kind of a cell that may lie beyond the grid.
std::uint8_t kind_at(const Problem& problem, std::int64_t column, std::int64_t row);

}  // namespace fabricmark::stencil
