#pragma once

#include "stencil/execution.hpp"
#include "stencil/reference.hpp"

namespace fabricmark::stencil {

/// What is compiled for each program from its kernels/<name>/cell.h.

/// Its step on the host.
std::optional<std::size_t> next_row(const HostRow& row, double* after);
/// Its cascade of elements.
MakeExecution make_dataflow;

}  // namespace fabricmark::stencil
