#pragma once

#include <cstddef>

namespace fabricmark::common {

/// A grid of P x Q ranks, numbered row by row, over which the blocks of a matrix lie
/// block-cyclically (the PQ distribution): block (i, j) lies with the rank in row i mod P and column j mod Q.
struct Grid {
  std::size_t rows = 1;     ///< P
  std::size_t columns = 1;  ///< Q

  [[nodiscard]] std::size_t row_of(int rank) const { return static_cast<std::size_t>(rank) / columns; }
  [[nodiscard]] std::size_t column_of(int rank) const { return static_cast<std::size_t>(rank) % columns; }
  [[nodiscard]] int rank_at(std::size_t row, std::size_t column) const {
    return static_cast<int>(row * columns + column);
  }
  [[nodiscard]] int owner(std::size_t block_row, std::size_t block_column) const {
    return rank_at(block_row % rows, block_column % columns);
  }
};

/// How many of `blocks` blocks, block-cyclic over `parts`, are those of number `part`, which are `part`,
/// `part` + `parts`, and so on (ScaLAPACK's numroc, in blocks).
inline std::size_t owned_blocks(std::size_t blocks, std::size_t part, std::size_t parts) {
  return blocks / parts + (part < blocks % parts ? 1 : 0);
}

/// The grid of all ranks with `grid_rows` rows; 0: as square as it gets, no more rows than columns. Throws
/// Error (bad use) when the ranks do not fill such a grid.
Grid make_grid(int ranks, std::size_t grid_rows);

}  // namespace fabricmark::common
