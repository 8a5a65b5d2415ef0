// The step of a stencil on the host, by the function of its kernels with numbers of type double. To be
// included by one source of an application, which names its header before:
//
//     #define FM_STENCIL_HEADER "kernels/heat/heat.h"
//     #include "stencil/host_step.hpp"
//     const stencil::NextRow kNextRow = stencil_on_host::row;
#ifndef FABRICMARK_STENCIL_HOST_STEP_HPP
#define FABRICMARK_STENCIL_HOST_STEP_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "stencil/reference.hpp"

#define FM_ON_HOST
#define DATA_TYPE double
#define WIDTH 1

namespace fabricmark::stencil_on_host {

namespace {

using std::fabs;
using std::sqrt;

#include FM_STENCIL_HEADER

std::optional<std::size_t> row(const stencil::HostRow& from, double* after) {
  fm_constants constants{};
  std::copy_n(from.constants, FM_CONSTANTS, constants.of);
  std::optional<std::size_t> trouble;
  for (std::size_t column = 0; column < from.columns; ++column) {
    fm_window window{};
    window.below = from.numbers + column + 1;
    window.here = window.below + from.pitch;
    window.above = window.here + from.pitch;
    window.kinds_below = from.kinds + column + 1;
    window.kinds_here = window.kinds_below + from.pitch;
    window.kinds_above = window.kinds_here + from.pitch;
    window.field = 3 * from.pitch;
    window.is_special = 1;
    const fm_numbers next = fm_next(window, constants);
    for (std::size_t field = 0; field < FM_FIELDS; ++field)
      after[field * from.columns + column] = next.of[field];
    if (next.trouble != 0 && !trouble) trouble = column;
  }
  return trouble;
}

}  // namespace

}  // namespace fabricmark::stencil_on_host

#endif
