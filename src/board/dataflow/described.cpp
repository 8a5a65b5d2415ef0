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
  const auto devices = document.root().list("devices");
  if (devices.empty()) throw document.root().wrong("devices[0]");
  return devices.front().text("id");
}

/// Frames that are neither sent again nor bundled, over cables as fast as their lines are.
network::StackSettings frames_of(const network::NetworkCosts& network) {
  network::StackSettings settings;
  settings.protocol = network::Protocol::kUdp;
  settings.costs = network::packet_costs(network);
  if (network.line_bytes_per_second > 0) settings.costs.bytes_per_second = network.line_bytes_per_second;
  settings.burst_bytes = 0;
  return settings;
}

}  // namespace

Described described(const std::filesystem::path& system, const std::string& transport,
                    const std::string& bitstream) {
  const network::NetworkCosts network = network::load_network_costs(system, transport);
  const bool has_words = network.has_words();
  const bool is_switched = network.kind == "packet" && has_words && network.flow.packet > 0;
  if (!is_switched && (network.kind != "direct" || (!has_words && network.link_bytes_per_second <= 0))) {
    throw bad_use(
        fmt::format("'{}': network {} has neither direct links with a width and a clock, or a rate, nor "
                    "packets with the frames of a credit link",
                    system.string(), network.id),
        "choose a transport whose network is of the kind direct, or give it links.width, links.clock and "
        "flow.packet");
  }
  if (!has_words && bitstream.empty()) {
    throw bad_use(fmt::format("'{}': network {} has no clock, which kernels without a bitstream take",
                              system.string(), network.id),
                  "choose a system with a bitstream of this benchmark for the transport");
  }
  const LinkCost link{.latency_seconds = is_switched ? 0 : network.latency_seconds,
                      .clock_hz = has_words ? network.clock_hz : network.clock_of_links(),
                      .width_bytes = network.width_of_links(),
                      .flow = {.credit_link = network.flow}};
  const runtime::SystemCosts costs({system, first_device(system), bitstream, 1});
  const double memory = costs.value_or("banks", 0) * costs.value_or("bank_bytes_per_second", 0);
  return {{bitstream.empty() ? network.clock_hz : costs.need("kernel_hz"),
           costs.value_or("launch_seconds", 0), memory},
          link,
          network.links,
          network.topology,
          is_switched ? std::optional(frames_of(network)) : std::nullopt};
}

}  // namespace fabricmark::dataflow
