#pragma once

#include "stencil/execution.hpp"
#include "stencil/reference.hpp"

namespace fabricmark::stencil {

/// As next_row (program_kernels.hpp), of cells on the sphere.
std::optional<std::size_t> next_row_on_sphere(const HostRow& row, double* after);
/// As make_dataflow, of the same.
MakeExecution make_dataflow_on_sphere;

}  // namespace fabricmark::stencil
