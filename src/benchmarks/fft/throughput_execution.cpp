// The throughput kernels: on one vector over all ranks or on a batch, in the form of a CPU or of a GPU.
#include <fmt/format.h>

#include "base/error.hpp"
#include "benchmarks/fft/execution.hpp"

namespace fabricmark::fft {

std::unique_ptr<Execution> make_throughput(const runtime::Context& context, const PointType& type) {
  const std::string& transport = context.parameters().text("transport");
  if (runtime::is_of_kernels(transport) && !is_distributed(context)) {
    throw bad_use(fmt::format("the transport {} with --scope batched, which sends nothing", transport),
                  "leave out --scope, or --transport");
  }
  if (is_distributed(context)) return make_distributed(context, type);
  return is_four_step(context) ? make_four_step(context, type) : make_stages(context, type);
}

}  // namespace fabricmark::fft
