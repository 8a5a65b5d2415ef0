#pragma once

#include "stencil/execution.hpp"

namespace fabricmark::tsunami {

/// The cascade of kernels/tsunami/dataflow.cpp.
std::unique_ptr<stencil::Execution> make_dataflow(const runtime::Context& context,
                                                  const stencil::Problem& problem, const stencil::Part& part);

}  // namespace fabricmark::tsunami
