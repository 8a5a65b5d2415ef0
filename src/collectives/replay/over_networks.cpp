#include "collectives/replay/over_networks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace fabricmark::collectives {

namespace {

constexpr double kAtOnce = std::numeric_limits<double>::infinity();

bool is_torus(const network::Topology& topology, int rows, int columns) {
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const int own = row * columns + column;
      const int right = row * columns + (column + 1) % columns;
      const int below = (row + 1) % rows * columns + column;
      for (const int other : {right, below}) {
        if (other != own && topology.distance(own, other) != 1) return false;
      }
    }
  }
  return true;
}

}  // namespace

ReceiveBuffers receive_buffers_of(network::Protocol protocol, std::size_t count, std::size_t bytes,
                                  std::optional<std::size_t> eager_bytes) {
  const bool has_rendezvous = protocol == network::Protocol::kRdma;
  return {count, bytes, has_rendezvous ? eager_bytes.value_or(bytes) : ReceiveBuffers{}.longest};
}

EngineNetwork engine_network(const network::NetworkCosts& network, network::Protocol protocol) {
  return {.protocol = protocol,
          .neighbour_seconds = network.device_seconds() + network.one_cable_seconds(),
          .switch_seconds = network.switch_seconds + network.one_cable_seconds(),
          .line_bytes_per_second = network.line_bytes_per_second,
          .packet_bytes = static_cast<double>(network.frame_bytes),
          .packet_header_bytes = static_cast<double>(network.header_bytes),
          .copy_seconds = network.copy_seconds,
          .copy_bytes_per_second = network.copy_bytes_per_second};
}

Costs costs_of(const EngineNetwork& network, const Shape& shape) {
  const bool has_switch = shape.wiring == Wiring::kAnyToAny;
  const double latency = network.neighbour_seconds + (has_switch ? network.switch_seconds : 0);
  const bool is_tcp = network.protocol == network::Protocol::kTcp;
  // UDP has no acknowledgements; TCP's window opens when what has come is copied.
  double answer = network.protocol == network::Protocol::kUdp ? 0 : 2 * latency;
  if (is_tcp) answer += network.copy_seconds;
  return {.message_seconds = latency + network.copy_seconds,
          .hop_seconds = network.neighbour_seconds,
          .bytes_per_second = network.line_bytes_per_second,
          .copy_bytes_per_second = network.copy_bytes_per_second,
          .combine_bytes_per_second = network.copy_bytes_per_second,
          .segment_bytes = Call{}.segment_bytes,
          .header_bytes = network.header_bytes,
          .packet_bytes = network.packet_bytes,
          .packet_header_bytes = network.packet_header_bytes,
          .store_bytes_per_second = network.copy_bytes_per_second,
          .copy_seconds = network.copy_seconds,
          .combines_as_it_comes = false,
          .answer_seconds = answer,
          // TCP has a window of packets in flight, the others a burst after the other.
          .turn_bytes = is_tcp ? static_cast<std::size_t>(network.packet_bytes) : network.burst_bytes,
          .leaves_in_turns = !is_tcp};
}

LinkNetwork link_network(const network::NetworkCosts& network) {
  return {.latency_seconds = network.latency_seconds,
          .width_bytes = network.width_of_links(),
          .clock_hz = network.clock_of_links(),
          .kernel_hz = network.has_words() ? network.clock_hz : 0};
}

Costs costs_of(const LinkNetwork& network) {
  // An order, and the word of its end, are seen in the cycle after.
  constexpr double kOrderCycles = 2;
  const bool has_cycles = network.kernel_hz > 0;
  const double cycle = has_cycles ? 1 / network.kernel_hz : 0;
  const double word = std::ceil(kLinkWordBytes / network.width_bytes) / network.clock_hz;
  const double in_memory = has_cycles ? kLinkWordBytes * network.kernel_hz : kAtOnce;
  return {.issue_seconds = kOrderCycles * cycle,
          .message_seconds = network.latency_seconds,
          .bytes_per_second = kLinkWordBytes / std::max(word, cycle),
          .copy_bytes_per_second = in_memory,
          .combine_bytes_per_second = in_memory,
          .segment_bytes = Call{}.segment_bytes,
          .word_bytes = kLinkWordBytes};
}

double payload_bytes_per_second(const Costs& costs) {
  if (costs.packet_bytes <= 0) return costs.bytes_per_second;
  return costs.bytes_per_second * costs.packet_bytes / (costs.packet_bytes + costs.packet_header_bytes);
}

Costs without_bytes(Costs costs) {
  for (double* rate : {&costs.bytes_per_second, &costs.copy_bytes_per_second, &costs.combine_bytes_per_second,
                       &costs.store_bytes_per_second}) {
    *rate = kAtOnce;
  }
  for (Curve* curve : {&costs.moving, &costs.copying, &costs.combining}) *curve = {};
  return costs;
}

Shape shape_of_engines(const network::Topology& topology) {
  const std::string& name = topology.name();
  if (name.starts_with("ring")) return {Wiring::kRing};
  constexpr std::string_view kTorus = "torus:";
  if (!name.starts_with(kTorus)) return {};
  Shape shape{Wiring::kTorus};
  char by = 0;
  std::istringstream(name.substr(kTorus.size())) >> shape.rows >> by >> shape.columns;
  return shape;
}

Shape shape_of_links(const network::Topology& topology) {
  const int devices = topology.devices();
  if (topology.switches() == 0) {
    if (topology.is_full_mesh()) return {.only_neighbours_talk = true};
    if (is_torus(topology, 1, devices)) return {.wiring = Wiring::kRing, .only_neighbours_talk = true};
    for (int rows = 2; rows < devices; ++rows) {
      if (devices % rows != 0 || !is_torus(topology, rows, devices / rows)) continue;
      return {Wiring::kTorus, rows, devices / rows, /*only_neighbours_talk=*/true};
    }
  }
  throw bad_use(fmt::format("collectives over links do not know the topology {}", topology.name()),
                "use pair, ring, torus or full-mesh");
}

}  // namespace fabricmark::collectives
