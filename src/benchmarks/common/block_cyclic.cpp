#include "benchmarks/common/block_cyclic.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace fabricmark::common {

Grid make_grid(int ranks, std::size_t grid_rows) {
  const auto count = static_cast<std::size_t>(ranks);
  std::size_t rows = grid_rows;
  if (rows == 0) {
    for (std::size_t divisor = 1; divisor * divisor <= count; ++divisor) {
      if (count % divisor == 0) rows = divisor;
    }
  }
  if (count % rows != 0) {
    throw bad_use(fmt::format("{} ranks do not fill a grid of {} rows", ranks, rows),
                  fmt::format("choose --grid-rows that divides {}, or 0", ranks));
  }
  return {.rows = rows, .columns = count / rows};
}

}  // namespace fabricmark::common
