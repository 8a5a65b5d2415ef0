#pragma once

#include "stencil/reference.hpp"

namespace fabricmark::tsunami {

/// The step of kernels/tsunami/cell.h.
extern const stencil::NextRow kNextRow;

}  // namespace fabricmark::tsunami
