#pragma once

#include <string>
#include <vector>

#include "transport/host/host_transport.hpp"

namespace fabricmark::transport {

/// What an exchange over the host consists of: from the devices to staging memory, between the staging
/// memories, and from there to the devices.
class HostSteps : public Steps {
 public:
  explicit HostSteps(HostTransport& transport) : transport_(transport) {}
  [[nodiscard]] std::vector<Step> steps() const override;
  void take(std::size_t step, std::span<const Message> sends, std::span<const Message> receives,
            std::size_t staged) override;
  [[nodiscard]] std::span<std::byte> staged(Place place, std::size_t bytes) override;

 private:
  void read(std::span<const Message> sends, std::size_t staged);
  void message(std::span<const Message> sends, std::span<const Message> receives, std::size_t staged);
  void write(std::span<const Message> receives, std::size_t staged);

  HostTransport& transport_;
  device::PinnedMemory outgoing_, incoming_;
};

}  // namespace fabricmark::transport
