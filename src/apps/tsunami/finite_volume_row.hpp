#pragma once

#include "stencil/reference.hpp"

namespace fabricmark::stencil {

/// As next_row (program_kernels.hpp), of kernels/tsunami/finite_volume.h.
std::optional<std::size_t> next_row_of_finite_volumes(const HostRow& row, double* after);

}  // namespace fabricmark::stencil
