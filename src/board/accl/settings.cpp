#include "board/accl/settings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "collectives/replay/over_networks.hpp"
#include "network/network_costs.hpp"

namespace fabricmark::accl {

namespace {

/// Preamble 8 B, header 14 B, check sequence 4 B and gap 12 B (IEEE 802.3): what a frame has beside its IP
/// packet.
constexpr std::uint64_t kEthernetBytes = 38;
constexpr std::size_t kSmallestMtu = 576;  // that every host takes (RFC 791)
constexpr std::size_t kLargestMtu = 9000;
/// The largest with window scaling (RFC 7323): 65535 times 2^14.
constexpr std::uint64_t kScaledWindow = std::uint64_t{65535} << 14U;

/// Of a packet's payload, from the size of IP packets: what headers leave of it. RDMA has sizes of its own,
/// powers of two from 256 to 4096 B (InfiniBand's path MTU).
std::uint64_t payload_of(std::size_t mtu, std::uint64_t headers, network::Protocol protocol) {
  if (mtu < kSmallestMtu || mtu > kLargestMtu) {
    throw bad_use(
        fmt::format("an MTU of {} B", mtu),
        fmt::format("choose from {} to {} B: 1500, or 9000 for jumbo frames", kSmallestMtu, kLargestMtu));
  }
  const std::uint64_t room = mtu + kEthernetBytes - std::min<std::uint64_t>(mtu, headers);
  if (protocol != network::Protocol::kRdma) return room;
  std::uint64_t payload = 4096;
  while (payload > 256 && payload > room) payload /= 2;
  return payload;
}

}  // namespace

collectives::ReceiveBuffers receive_buffers_of(const EngineSettings& engine, network::Protocol protocol) {
  return collectives::receive_buffers_of(protocol, engine.rx_buffers, engine.rx_bytes, engine.eager_bytes);
}

collectives::Costs costs_of_engine(const EngineSettings& engine, const network::StackSettings& network,
                                   const collectives::Shape& shape) {
  const network::PacketCosts& wire = network.costs;
  return collectives::costs_of(
      collectives::EngineNetwork{
          .protocol = network.protocol,
          .neighbour_seconds = network::seconds(wire.node_latency + wire.cable_latency),
          .switch_seconds = network::seconds(wire.switch_latency + wire.cable_latency),
          .line_bytes_per_second = wire.bytes_per_second,
          .packet_bytes = static_cast<double>(wire.mtu_bytes),
          .packet_header_bytes = static_cast<double>(wire.header_bytes),
          .copy_seconds = engine.copy_latency_seconds,
          .copy_bytes_per_second = engine.copy_rate,
          .header_bytes = static_cast<double>(engine.header_bytes),
          .burst_bytes = network.burst_bytes},
      shape);
}

Described described(const std::filesystem::path& system, const std::string& transport,
                    const Choices& choices) {
  const network::Protocol protocol = network::protocol_of(transport);
  const network::NetworkCosts network = network::load_network_costs(system, transport);
  const auto misses = [&](std::string_view what) {
    return bad_use(fmt::format("'{}': network {} has no {}", system.string(), network.id, what),
                   "add it, or use a system whose networks have an engine, such as noctua2");
  };
  if (network.kind != "packet") {
    throw bad_use(fmt::format("'{}': network {} is of the kind {}, not packet", system.string(), network.id,
                              network.kind),
                  "use a network with an engine on the board");
  }
  const std::array<std::pair<std::string_view, double>, 6> needed{
      {{"line_bytes_per_second", network.line_bytes_per_second},
       {"host_start_seconds", network.host_start_seconds},
       {"start_seconds", network.start_seconds},
       {"copy_seconds", network.copy_seconds},
       {"copy_bytes_per_second", network.copy_bytes_per_second},
       {"frame_bytes", static_cast<double>(network.frame_bytes)}}};
  for (const auto& [name, value] : needed) {
    if (!(value > 0)) throw misses(name);
  }
  if (network.header_bytes < kEthernetBytes) throw misses("frame_overhead_bytes with those of Ethernet");
  if (choices.window_bytes > kScaledWindow) {
    throw bad_use(fmt::format("a window of {} B", choices.window_bytes),
                  fmt::format("choose at most {} B", kScaledWindow));
  }

  Described found;
  found.topology = network.topology;
  found.device.launch_seconds = network.host_start_seconds;
  found.device.clock_hz = found.engine.clock_hz;
  found.stack.protocol = protocol;
  found.stack.costs = network::packet_costs(network);
  // The rate of long messages is what comes out of headers and windows; it is no cost.
  found.stack.costs.bytes_per_second = network.line_bytes_per_second;
  if (choices.mtu_bytes > 0) {
    found.stack.costs.mtu_bytes = payload_of(choices.mtu_bytes, network.header_bytes, protocol);
  }
  found.stack.window_bytes = choices.window_bytes > 0 ? choices.window_bytes : kScaledWindow;
  if (protocol == network::Protocol::kTcp) {
    found.stack.receive_latency = network::from_seconds(network.copy_seconds);
  }
  found.engine.logic_issue_seconds = network.start_seconds;
  found.engine.copy_latency_seconds = network.copy_seconds;
  found.engine.copy_rate = network.copy_bytes_per_second;
  return found;
}

}  // namespace fabricmark::accl
