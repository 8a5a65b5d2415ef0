#include "benchmarks/common/block_cyclic.hpp"

#include "runtime/numbers.hpp"

namespace fabricmark::common {

Grid make_grid(int ranks, std::size_t grid_rows) {
  const std::size_t rows = runtime::grid_rows(ranks, grid_rows);
  return {.rows = rows, .columns = static_cast<std::size_t>(ranks) / rows};
}

}  // namespace fabricmark::common
