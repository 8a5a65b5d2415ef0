#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/messages.hpp"
#include "transport/transfer.hpp"
#include "transport/transport.hpp"

namespace fabricmark::transport {

/// Messages between the host memories of ranks: what MPI does, without any device.
class CpuTransport : public Transport {
 public:
  static constexpr const char* kName = "cpu";

  /// Messages of `long_bytes` and more leave one after the other; absent: as `take` says, before that from
  /// kLongMessage on.
  CpuTransport(runtime::Communicator& ranks, double timeout_seconds, Waiting waiting = Waiting::kSpin,
               std::optional<std::size_t> long_bytes = std::nullopt, bool is_timed = false)
      : Transport(ranks),
        timeout_(timeout_seconds),
        waiting_(waiting),
        long_bytes_(long_bytes.value_or(kLongMessage)),
        is_open_(!long_bytes),
        is_timed_(is_timed) {}
  [[nodiscard]] std::string name() const override { return kName; }
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
  [[nodiscard]] std::vector<std::string> protocols(std::size_t bytes) const override;
  void take(std::size_t size_class, const std::string& protocol) override;

 private:
  [[nodiscard]] std::size_t long_bytes(std::span<const Message> sends) const;

  double timeout_;
  Waiting waiting_;
  std::size_t long_bytes_;
  bool is_open_;
  bool is_timed_;
  std::vector<bool> is_serial_;  // [size class]; empty before one is taken
  Transfers transfers_;
};

}  // namespace fabricmark::transport
