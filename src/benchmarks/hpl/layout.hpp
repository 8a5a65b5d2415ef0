#pragma once

#include <cstddef>
#include <vector>

#include "benchmarks/common/block_cyclic.hpp"

namespace fabricmark::hpl {

/// Where the elements of the matrix lie: square blocks of `block` elements, block-cyclic over the grid. A
/// rank holds its blocks as one row-major matrix of local_rows() x local_columns() elements, in the order of
/// their global positions. The matrix is padded to whole blocks, with ones on the diagonal and zeros
/// elsewhere.
struct Layout {
  std::size_t size = 0;   ///< n, rows and columns of the whole matrix
  std::size_t block = 1;  ///< b
  common::Grid grid;
  int rank = 0;

  [[nodiscard]] std::size_t blocks() const { return (size + block - 1) / block; }
  [[nodiscard]] std::size_t grid_row() const { return grid.row_of(rank); }
  [[nodiscard]] std::size_t grid_column() const { return grid.column_of(rank); }
  [[nodiscard]] std::size_t local_rows() const {
    return common::owned_blocks(blocks(), grid_row(), grid.rows) * block;
  }
  [[nodiscard]] std::size_t local_columns() const {
    return common::owned_blocks(blocks(), grid_column(), grid.columns) * block;
  }
  [[nodiscard]] std::size_t elements() const { return local_rows() * local_columns(); }
  /// The global row of a local one; at or above `size` in the padding.
  [[nodiscard]] std::size_t global_row(std::size_t local) const {
    return (local / block * grid.rows + grid_row()) * block + local % block;
  }
  [[nodiscard]] std::size_t global_column(std::size_t local) const {
    return (local / block * grid.columns + grid_column()) * block + local % block;
  }
};

/// The ranks of this one's row or column of the grid, in their order.
inline std::vector<int> line_of(const Layout& layout, bool is_row) {
  const common::Grid& grid = layout.grid;
  std::vector<int> ranks;
  for (std::size_t place = 0; place < (is_row ? grid.columns : grid.rows); ++place)
    ranks.push_back(is_row ? grid.rank_at(layout.grid_row(), place)
                           : grid.rank_at(place, layout.grid_column()));
  return ranks;
}

}  // namespace fabricmark::hpl
