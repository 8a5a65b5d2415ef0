#pragma once

#include "stencil/reference.hpp"

namespace fabricmark::lbm {

/// The step of kernels/lbm/cell.h.
extern const stencil::NextRow kNextRow;

}  // namespace fabricmark::lbm
