// The throughput kernels: on one vector over all ranks or on a batch, in the form of a CPU or of a GPU.
#include <fmt/format.h>

#include "base/error.hpp"
#include "benchmarks/fft/execution.hpp"
#include "transport/registry.hpp"

namespace fabricmark::fft {

std::unique_ptr<Execution> make_throughput(const runtime::Context& context, const PointType& type) {
  if (is_distributed(context)) return make_distributed(context, type);
  return is_four_step(context) ? make_four_step(context, type) : make_stages(context, type);
}

std::unique_ptr<Execution> make_over_boards(const runtime::Context& context, const PointType& type) {
  if (!is_distributed(context)) {
    throw bad_use(fmt::format("the transport {} with --scope batched, which sends nothing",
                              context.parameters().text("transport")),
                  "leave out --scope, or --transport");
  }
  const auto& fault = context.fault();
  if (context.ranks().size() == 1 && fault && transport::is_message_fault(*fault)) {
    throw bad_use("one rank sends no message that could have the fault of --inject-fault", "use --ranks 2");
  }
  return make_distributed(context, type);
}

}  // namespace fabricmark::fft
