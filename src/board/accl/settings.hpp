#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "board/dataflow/fabric.hpp"
#include "board/dataflow/host.hpp"
#include "collectives/costs.hpp"
#include "collectives/replay/over_networks.hpp"
#include "network/stack/stack.hpp"

namespace fabricmark::accl {

/// What an engine has and costs. Times in seconds of modelled time, rates in bytes per second.
struct EngineSettings {
  double logic_issue_seconds = 0;   ///< l_k: a call from the device's own logic, decoded and answered
  double copy_latency_seconds = 0;  ///< l_m: of a copy in the device's memory
  double copy_rate = 0;             ///< of its data mover; copies take turns
  std::uint64_t header_bytes = collectives::kMessageHeaderBytes;  ///< of each segment
  double clock_hz = 250e6;                                        ///< of streams to and from kernels

  std::size_t rx_buffers = collectives::kReceiveBuffers;
  std::size_t rx_bytes = collectives::kReceiveBufferBytes;  ///< of each; a message takes as many as it needs
  /// Longer messages wait for their receiver and go straight into its memory (rendezvous); none: those that
  /// no receive buffer holds. RDMA only: the others buffer all messages.
  std::optional<std::size_t> eager_bytes{};
  double timeout_seconds = 1;   ///< a call that waits so long for a peer ends; 0: never
  bool has_arithmetic = true;   ///< reductions; a `minimal` engine has none
  bool has_compression = true;  ///< float32 as float16 on the wire
  /// Else messages take their time, and elements stay as they are: no memory is read or written.
  bool moves_elements = true;
};

/// Of its messages, for `choose` of collective operations.
[[nodiscard]] collectives::ReceiveBuffers receive_buffers_of(const EngineSettings& engine,
                                                             network::Protocol protocol);
/// What moves take there, over a network with a switch where its shape is any to any.
[[nodiscard]] collectives::Costs costs_of_engine(const EngineSettings& engine,
                                                 const network::StackSettings& network,
                                                 const collectives::Shape& shape);

/// A system's network with an engine at each device.
struct Described {
  dataflow::DeviceCost device;  ///< launch_seconds is l_k of a call from the host
  network::StackSettings stack;
  EngineSettings engine;
  std::string topology;  ///< for network::make_topology
};

/// What the user may choose of a transport `accl-udp`, `accl-tcp` or `accl-rdma`.
struct Choices {
  std::size_t mtu_bytes = 0;     ///< IP packets, 1500 or jumbo; 0: as the system says
  std::size_t window_bytes = 0;  ///< TCP; 0: so large that it never stops a sender (window scaling)
};

/// Reads what `fabricmark systems export` writes; a system with several kinds of devices: the first that has
/// the transport. The wire has the rate of the line, not that of long messages, which has to come out. Throws
/// Error (2) with the file and what it misses.
Described described(const std::filesystem::path& system, const std::string& transport,
                    const Choices& choices = {});

}  // namespace fabricmark::accl
