#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "collectives/costs.hpp"
#include "collectives/operation.hpp"
#include "network/network_costs.hpp"
#include "network/protocol.hpp"
#include "network/topology.hpp"

/// What moves take over networks, and how these wire their ranks: for the programs, which choose algorithms
/// by it, and for predictions, which replay them (fabricmark-describe). There is no other home of it.
namespace fabricmark::collectives {

inline constexpr std::size_t kMessageHeaderBytes = 64;  ///< of ACCL: one word of 512 bits
inline constexpr std::size_t kLinkWordBytes = 64;       ///< that kernels hand a link, at most one a cycle
inline constexpr std::size_t kReceiveBuffers = 16;      ///< of an engine, where nobody asks for others
inline constexpr std::size_t kReceiveBufferBytes = std::size_t{1} << 20U;

/// Of links whose system says none: an optical switch lays circuits as they are asked for.
inline constexpr const char* kUsualCircuits = "ring";

/// All others may send to a root before it has begun to receive.
inline std::size_t receive_buffers_for(int ranks) {
  return std::max(kReceiveBuffers, static_cast<std::size_t>(ranks));
}
/// `eager_bytes`: longer messages go straight into their place, where the protocol can (rendezvous); by
/// default those that no receive buffer holds, as in ACCL's driver.
ReceiveBuffers receive_buffers_of(network::Protocol protocol, std::size_t count, std::size_t bytes,
                                  std::optional<std::size_t> eager_bytes = std::nullopt);

/// An engine beside each port of a network of packets. Times in seconds, rates in bytes per second.
struct EngineNetwork {
  network::Protocol protocol = network::Protocol::kUdp;
  double neighbour_seconds = 0;  ///< of the first bit to a device at the other end of a cable
  double switch_seconds = 0;     ///< more over a switch, with its second cable
  double line_bytes_per_second = 0;
  double packet_bytes = 0;         ///< the most payload
  double packet_header_bytes = 0;  ///< with all that the wire carries beside the payload
  double copy_seconds = 0;         ///< l_m: of a copy out of the receive buffer, beside its bytes
  double copy_bytes_per_second = 0;
  double header_bytes = kMessageHeaderBytes;
  std::size_t burst_bytes = network::kBurstBytes;
};
EngineNetwork engine_network(const network::NetworkCosts& network, network::Protocol protocol);
/// Meyer 2024, sections 5.1.4 and 5.1.5.
Costs costs_of(const EngineNetwork& network, const Shape& shape);

/// Direct links, such as circuits and channels, and the kernels at their ends.
struct LinkNetwork {
  double latency_seconds = 0;
  double width_bytes = 0;  ///< that a link takes in a cycle
  double clock_hz = 0;     ///< of these cycles
  double kernel_hz = 0;    ///< 0: cycles of kernels take no time
};
/// Kernels have the clock of the links; where no file says one, their cycles take no time.
LinkNetwork link_network(const network::NetworkCosts& network);
Costs costs_of(const LinkNetwork& network);

/// Payload of long messages over one link, in one direction [B/s].
double payload_bytes_per_second(const Costs& costs);
/// The same costs where links and memory move bytes at once: what is left are latencies.
Costs without_bytes(Costs costs);

/// How the ranks of engines are wired, all of them devices of the topology: devices and switches pass on.
Shape shape_of_engines(const network::Topology& topology);
/// How devices with direct links are wired, all of them ranks: any to any, a ring or a torus, by the cables
/// that there are, and only neighbours talk. Throws Error (bad use) for any other topology.
Shape shape_of_links(const network::Topology& topology);

}  // namespace fabricmark::collectives
