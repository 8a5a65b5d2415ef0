#pragma once

#include <memory>
#include <string>

#include "fabric/messages.hpp"
#include "fabric/transfer.hpp"
#include "fabric/transport.hpp"

namespace fabricmark::fabric {

/// Messages between the host memories of ranks: what MPI does, without any device.
class CpuTransport : public Transport {
 public:
  /// Messages of `long_bytes` and more leave one after the other.
  CpuTransport(runtime::Communicator& ranks, double timeout_seconds, Waiting waiting = Waiting::kSpin,
               std::size_t long_bytes = kLongMessage, bool is_timed = false)
      : Transport(ranks),
        timeout_(timeout_seconds),
        waiting_(waiting),
        long_bytes_(long_bytes),
        is_timed_(is_timed) {}
  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] bool supports(device::MemorySpace from, device::MemorySpace to,
                              Operation /*operation*/) const override {
    return device::is_on_host(from) && device::is_on_host(to);
  }
  [[nodiscard]] bool is_over_hosts() const override { return true; }
  [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override {
    return std::make_unique<Memory>(bytes);
  }
  device::Event start(std::span<const Message> sends, std::span<const Message> receives,
                      const device::Events& after = {}) override;
  void tune(std::size_t largest_bytes) override;
  [[nodiscard]] std::string choice() const override;

 private:
  double timeout_;
  Waiting waiting_;
  std::size_t long_bytes_;
  bool is_timed_;
  bool is_tuned_ = false;
  Transfers transfers_;
};

}  // namespace fabricmark::fabric
