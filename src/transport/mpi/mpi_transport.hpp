#pragma once

#include <memory>
#include <string>

#include "runtime/context.hpp"
#include "transport/messages.hpp"
#include "transport/mpi/passing.hpp"
#include "transport/transfer.hpp"
#include "transport/transport.hpp"

namespace fabricmark::transport {

/// Messages between device memories that the MPI of a site carries by itself: it gets the memory's address or
/// handle, and copies from and to the device as it likes (Contini et al. 2024, section 1). What the paper
/// leaves open, docs/mpi.md says.
class MpiTransport : public Transport {
 public:
  MpiTransport(const runtime::Context& context, Passing passing, Waiting waiting = Waiting::kSpin);
  [[nodiscard]] std::string name() const override { return kMpiTransport; }
  [[nodiscard]] bool supports(device::MemorySpace from, device::MemorySpace to,
                              Operation /*operation*/) const override {
    return has_address(from) && has_address(to);
  }
  [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override;
  device::Event start(std::span<const Message> sends, std::span<const Message> receives,
                      const device::Events& after = {}) override;

  /// Collective: sends a few bytes from a device to the next rank's host, and then from its host to the
  /// device. Throws Error (environment) on all ranks where other bytes arrive than were sent: a library that
  /// takes a handle for an address has read what lies behind it, of which the few bytes are always there.
  void check_library();

 private:
  friend class Lending;
  friend class MpiTransfer;
  static constexpr bool has_address(device::MemorySpace space) {
    return space == device::MemorySpace::kDeviceBank || space == device::MemorySpace::kShared;
  }
  /// Whether bytes that leave the device, or the host, arrive at the other one.
  [[nodiscard]] bool arrives(bool leaves_device);

  const device::Device& device_;
  Passing passing_;
  double timeout_;
  Waiting waiting_;
  bool is_timed_;
  device::MemoryKind memory_;
  device::Queue reads_;
  device::Queue writes_;
  Transfers transfers_;
};

}  // namespace fabricmark::transport
