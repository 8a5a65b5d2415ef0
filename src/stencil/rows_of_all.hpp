#pragma once

#include <vector>

#include "runtime/communicator.hpp"

namespace fabricmark::stencil {

/// Numbers of the rows of all ranks in their order, on the first rank; empty on others. Collective.
std::vector<float> rows_of_all(runtime::Communicator& ranks, const std::vector<float>& own);

}  // namespace fabricmark::stencil
