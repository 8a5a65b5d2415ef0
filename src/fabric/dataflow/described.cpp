#include "fabric/dataflow/described.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "fabric/network_costs.hpp"
#include "runtime/system_costs.hpp"
#include "runtime/system_document.hpp"

namespace fabricmark::dataflow {

namespace {

std::string first_device(const std::filesystem::path& system) {
  const runtime::SystemDocument document(system);
  const auto& devices = document.list("devices");
  if (devices.empty()) throw document.wrong("devices[0]");
  return document.text(devices.front(), "id", "devices[0].");
}

}  // namespace

Described described(const std::filesystem::path& system, const std::string& transport,
                    const std::string& bitstream) {
  const fabric::NetworkCosts network = fabric::load_network_costs(system, transport);
  if (network.kind != "direct" || network.width_bytes == 0 || network.clock_hz <= 0) {
    throw bad_use(
        fmt::format("'{}': network {} says no width and clock of direct links", system.string(), network.id),
        "choose a transport whose network is of the kind direct");
  }
  const runtime::SystemCosts costs({system, first_device(system), bitstream, 1});
  const double memory = costs.value_or("banks", 0) * costs.value_or("bank_bytes_per_second", 0);
  return {{bitstream.empty() ? network.clock_hz : costs.need("kernel_hz"),
           costs.value_or("launch_seconds", 0), memory},
          {network.latency_seconds, network.clock_hz, static_cast<double>(network.width_bytes), {}},
          network.links,
          network.topology};
}

}  // namespace fabricmark::dataflow
