#include "apps/lbm/next_row.hpp"

#define FM_STENCIL_HEADER "kernels/lbm/cell.h"
#include "stencil/host_step.hpp"

namespace fabricmark::lbm {

const stencil::NextRow kNextRow = stencil_on_host::row;

}  // namespace fabricmark::lbm
