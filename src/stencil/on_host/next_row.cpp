// The step of a stencil on the host, by the function of its kernels with numbers of type double. A program
// that has several cells defines FM_NEXT_ROW, the name of the function, and what its cell.h chooses by, and
// includes this for each but the first.
#include <algorithm>
#include <cmath>

#include "stencil/program_kernels.hpp"

#define FM_ON_HOST
#define DATA_TYPE double
#define WIDTH 1
#if !defined(FM_NEXT_ROW)
#define FM_NEXT_ROW next_row
#endif

namespace fabricmark::stencil {

namespace {

using std::fabs;
using std::sqrt;

#include "cell.h"  // of the program's kernels

}  // namespace

std::optional<std::size_t> FM_NEXT_ROW(const HostRow& row, double* after) {
  fm_constants constants{};
  std::copy_n(row.constants, FM_CONSTANTS, constants.of);
  std::optional<std::size_t> trouble;
  for (std::size_t column = 0; column < row.columns; ++column) {
    fm_window window{};
    window.below = row.numbers + column + 1;
    window.here = window.below + row.pitch;
    window.above = window.here + row.pitch;
    window.kinds_below = row.kinds + column + 1;
    window.kinds_here = window.kinds_below + row.pitch;
    window.kinds_above = window.kinds_here + row.pitch;
    window.field = 3 * row.pitch;
    window.phase = row.phase;
    window.is_special = 1;
    const fm_numbers next = fm_next(window, constants);
    for (std::size_t field = 0; field < FM_FIELDS; ++field) {
      after[field * row.columns + column] = next.of[field];
    }
    if (next.trouble != 0 && !trouble) trouble = column;
  }
  return trouble;
}

}  // namespace fabricmark::stencil
