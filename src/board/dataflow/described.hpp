#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "board/dataflow/fabric.hpp"
#include "board/dataflow/host.hpp"

namespace fabricmark::dataflow {

/// A device and the links between devices, as a system file has them.
struct Described {
  DeviceCost device;
  LinkCost link;
  int links = 1;         ///< ports of a device
  std::string topology;  ///< for network::make_topology; empty where the file says none
  /// Of a network of packets, which credit links cross in frames; absent: cables join the devices.
  std::optional<network::StackSettings> frames{};
};

/// Reads what `fabricmark systems export` writes: the first kind of device, the network of a transport, and
/// the clock of a bitstream; without one kernels have the clock of the links. Throws Error (2) with the file
/// and what it misses.
Described described(const std::filesystem::path& system, const std::string& transport,
                    const std::string& bitstream = {});

}  // namespace fabricmark::dataflow
