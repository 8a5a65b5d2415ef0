#include "runtime/linked_engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "runtime/kernel_spec.hpp"
#include "runtime/parameters.hpp"

namespace fabricmark::runtime {

namespace {

/// Of the parameter `name`; `built`: the values that the bitstream is linked for.
void require_built_for(const Overrides& sidecar, const std::vector<std::string>& built,
                       const Parameters& parameters, const std::string& name) {
  const std::string& wanted = parameters.text(name);
  if (std::ranges::find(built, wanted) != built.end()) return;
  throw bad_use(fmt::format("the bitstream is linked for {} {} ('{}'), and the run wants {} {}", name,
                            fmt::join(built, " and "), sidecar.origin, name, wanted),
                fmt::format("use --{} {}, or a bitstream that is built for {}", name,
                            fmt::join(built, " or "), wanted));
}

}  // namespace

void require_linked_engine(const Overrides& sidecar, const VariantSpec& variant,
                           const Parameters& parameters) {
  if (!variant.is_dataflow() || !parameters.has("transport")) return;
  const TransportSpec* const transport = find_transport(parameters.text("transport"));
  if (transport == nullptr || transport->between != Between::kEngines) return;
  if (!sidecar.engine) {
    throw bad_use(
        fmt::format("the sidecar '{}' does not say what engine the bitstream is linked with", sidecar.origin),
        "write transports and modes to its table engine (docs/building.md)");
  }
  require_built_for(sidecar, sidecar.engine->transports, parameters, "transport");
  if (parameters.has("mode")) require_built_for(sidecar, sidecar.engine->modes, parameters, "mode");
}

}  // namespace fabricmark::runtime
