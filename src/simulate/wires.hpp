#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/interface.hpp"
#include "network/time.hpp"
#include "simulate/player.hpp"

namespace fabricmark::simulate {

/// What carries messages between devices.
class Wires : public Interface {
 public:
  struct Told {
    std::function<void(network::Time, std::uint32_t)> departed;   ///< its last byte has left the sender
    std::function<void(network::Time, std::uint32_t)> delivered;  ///< its last byte is there
  };
  virtual void send(network::Time at, int from, int to, std::uint64_t wire_bytes, std::uint32_t id) = 0;
  /// All that happens, until nothing more does.
  virtual void run() = 0;
  [[nodiscard]] virtual std::uint64_t events() const = 0;
  [[nodiscard]] virtual std::vector<LinkLoad> loads() const = 0;
};

/// Packets of so many bytes that share all cables.
std::unique_ptr<Wires> shared_cables(const Setting& setting, std::uint64_t packet_bytes, Wires::Told told);
/// Each message takes its latency, and its bytes at the sender's port and at the receiver's, which pass one
/// after the other.
std::unique_ptr<Wires> own_ports(const Setting& setting, Wires::Told told);

}  // namespace fabricmark::simulate
