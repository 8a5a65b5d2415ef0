#include "board/dataflow/described.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "network/network_costs.hpp"
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
  const network::NetworkCosts network = network::load_network_costs(system, transport);
  const bool has_words = network.has_words();
  if (network.kind != "direct" || (!has_words && network.link_bytes_per_second <= 0)) {
    throw bad_use(fmt::format("'{}': network {} says no width and clock of direct links, and no rate",
                              system.string(), network.id),
                  "choose a transport whose network is of the kind direct");
  }
  if (!has_words && bitstream.empty()) {
    throw bad_use(fmt::format("'{}': network {} has no clock, which kernels without a bitstream take",
                              system.string(), network.id),
                  "choose a system with a bitstream of this benchmark for the transport");
  }
  const LinkCost link{.latency_seconds = network.latency_seconds,
                      .clock_hz = has_words ? network.clock_hz : network.clock_of_links(),
                      .width_bytes = network.width_of_links(),
                      .flow = {.credit_link = network.flow}};
  const runtime::SystemCosts costs({system, first_device(system), bitstream, 1});
  const double memory = costs.value_or("banks", 0) * costs.value_or("bank_bytes_per_second", 0);
  return {{bitstream.empty() ? network.clock_hz : costs.need("kernel_hz"),
           costs.value_or("launch_seconds", 0), memory},
          link,
          network.links,
          network.topology};
}

}  // namespace fabricmark::dataflow
