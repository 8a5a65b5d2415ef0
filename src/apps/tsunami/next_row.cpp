#include "apps/tsunami/next_row.hpp"

#define FM_STENCIL_HEADER "kernels/tsunami/cell.h"
#include "stencil/host_step.hpp"

namespace fabricmark::tsunami {

const stencil::NextRow kNextRow = stencil_on_host::row;

}  // namespace fabricmark::tsunami
