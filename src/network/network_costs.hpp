#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "network/flow_control.hpp"
#include "network/packet_network.hpp"

namespace fabricmark::network {

/// What one network of an exported system says, in SI units; what no file says is 0 or empty.
struct NetworkCosts {
  std::string id;
  std::string kind;      ///< direct, packet or host
  std::string topology;  ///< for make_topology
  double latency_seconds =
      0;  ///< of the first bit from one device to the next, over a cable each way to a switch
  double start_seconds = 0;             ///< to issue one message
  double switch_seconds = 0;            ///< more for each switch
  std::optional<double> node_seconds;   ///< of a device's own network modules: part of latency_seconds
  std::optional<double> cable_seconds;  ///< of one cable: the rest of it
  double link_bytes_per_second = 0;     ///< of one link, one direction: the payload of long messages; width x
                                     ///< clock where these are known, as whoever wrote the values has seen to
  std::uint64_t width_bytes = 0;     ///< that a kernel hands a link in one cycle
  double clock_hz = 0;               ///< of these cycles
  int links = 1;                     ///< of a device
  std::uint64_t frame_bytes = 0;     ///< the most payload of a packet; 0: a message is one packet
  std::uint64_t header_bytes = 0;    ///< of a packet, with all that the wire carries beside the payload
  double line_bytes_per_second = 0;  ///< of a cable, headers counted; 0: only link_bytes_per_second is known
  double ping_seconds = 0;  ///< of short messages between two devices, all that they wait for; 0: not known
  double host_start_seconds = 0;  ///< of a call that the host makes of the board's engine: the device's own
  double copy_seconds = 0;        ///< where a message is copied in the device's memory: to begin with it
  double copy_bytes_per_second = 0;   ///< of such a copy
  int board_ports = 0;                ///< of the board; 0: no file says it
  FlowSettings::OfCreditLink flow{};  ///< zeros: the network is none, or no file says it

  /// Of a device, to start a message or pass one on; all of latency_seconds where nothing splits it.
  [[nodiscard]] double device_seconds() const {
    return node_seconds && cable_seconds ? *node_seconds : latency_seconds;
  }
  [[nodiscard]] double one_cable_seconds() const {
    return node_seconds && cable_seconds ? *cable_seconds : 0;
  }
  /// Without words of its own a link takes byte after byte, at its rate.
  [[nodiscard]] bool has_words() const { return width_bytes > 0 && clock_hz > 0; }
  [[nodiscard]] double width_of_links() const { return has_words() ? static_cast<double>(width_bytes) : 1; }
  /// Of the words of long messages.
  [[nodiscard]] double clock_of_links() const {
    return has_words() ? clock_hz * flow.share() : link_bytes_per_second;
  }
  /// Of a cable, headers counted: so much that full frames carry link_bytes_per_second of payload.
  [[nodiscard]] double wire_bytes_per_second() const;
};

/// A value of a network: its name in an exported system, and in requests of fabricmark-describe, and whether
/// it is a whole number.
struct NetworkValue {
  static constexpr double kMostCount = std::numeric_limits<int>::max();
  std::string_view name;
  bool is_count = false;
  void (*set)(NetworkCosts&, double) = nullptr;
};
std::span<const NetworkValue> network_values();

/// Reads a network of what `fabricmark systems export` writes: by its id, or by a transport
/// of the first kind of devices that has it, or where `name` is empty the only one. Throws Error (2) with the
/// file and the place.
NetworkCosts load_network_costs(const std::filesystem::path& file, const std::string& name);
/// The same from its text; `origin` is for messages.
NetworkCosts read_network_costs(const std::string& json, const std::string& origin, const std::string& name);

/// Cycles of a link that a word of so many bytes takes: whole ones, and at least one.
double link_cycles(std::size_t word_bytes, double width_bytes);

/// The costs of packets over this network, with nothing of its buffers. Throws Error (2) beyond the range of
/// time.
PacketCosts packet_costs(const NetworkCosts& network, Forwarding forwarding = Forwarding::kCutThrough);

}  // namespace fabricmark::network
