#pragma once

#include <string>

#include "stencil/application.hpp"
#include "stencil/execution.hpp"

namespace fabricmark::stencil {

/// The whole main function of an application, whose kernels are in kernels/<name>.
/// `dataflow`: makes its cascade (dataflow_execution.hpp).
int run(int argc, char** argv, const std::string& name, const MakeApplication& make, MakeExecution dataflow);

}  // namespace fabricmark::stencil
