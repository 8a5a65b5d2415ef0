#include "apps/lbm/dataflow.hpp"

#include "kernels/lbm/dataflow.cpp"  // NOLINT(bugprone-suspicious-include): kernels are a source
#include "stencil/dataflow_execution.hpp"

namespace fabricmark::lbm {

std::unique_ptr<stencil::Execution> make_dataflow(const runtime::Context& context,
                                                  const stencil::Problem& problem,
                                                  const stencil::Part& part) {
  return stencil::make_cascade(context, problem, part);
}

}  // namespace fabricmark::lbm
