#pragma once

#include "stencil/execution.hpp"

namespace fabricmark::lbm {

/// The cascade of kernels/lbm/dataflow.cpp.
std::unique_ptr<stencil::Execution> make_dataflow(const runtime::Context& context,
                                                  const stencil::Problem& problem, const stencil::Part& part);

}  // namespace fabricmark::lbm
