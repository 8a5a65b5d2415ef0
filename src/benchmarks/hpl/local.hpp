#pragma once

#include <algorithm>

#include "benchmarks/hpl/layout.hpp"

namespace fabricmark::hpl {

/// How many of the rank's columns lie left of a global column: as they are in global order, its first ones.
inline std::size_t columns_below(const Layout& layout, std::size_t column) {
  const std::size_t block = column / layout.block;
  const std::size_t whole =
      common::owned_blocks(block, layout.grid_column(), layout.grid.columns) * layout.block;
  return whole + (block % layout.grid.columns == layout.grid_column() ? column % layout.block : 0);
}

/// The rank's columns without those of the padding.
inline std::size_t real_columns(const Layout& layout) { return columns_below(layout, layout.size); }

/// Columns of the rank that lie side by side in the whole matrix too.
struct Run {
  std::size_t local = 0;   ///< first column, of the rank's
  std::size_t global = 0;  ///< first column, of the matrix
  std::size_t count = 0;
};

/// Calls `use` with the runs that the rank's columns from `first` to before `end` consist of.
template <typename Use>
void for_each_run(const Layout& layout, std::size_t first, std::size_t end, Use&& use) {
  while (first < end) {
    const std::size_t count = std::min(layout.block - first % layout.block, end - first);
    use(Run{first, layout.global_column(first), count});
    first += count;
  }
}

/// True where this rank is the one of its column of the grid that speaks for the column's part of a vector.
inline bool is_column_root(const Layout& layout) { return layout.grid_row() == 0; }

}  // namespace fabricmark::hpl
