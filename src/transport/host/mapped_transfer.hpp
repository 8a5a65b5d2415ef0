#pragma once

#include <vector>

#include "transport/host/host_transport.hpp"

namespace fabricmark::transport {

/// Messages in the host's view of the device's memory. Those that lie one behind the other are mapped at
/// once: a command costs a runtime more than a short message.
class Mapping {
 public:
  Mapping(const HostTransport& transport, const device::Queue& queue, bool for_writing)
      : transport_(transport), queue_(queue), for_writing_(for_writing) {}
  /// Waits until the device has given the memory.
  void map(std::span<const Message> messages);
  [[nodiscard]] std::span<const HostMessage> messages() const { return messages_; }
  /// Waits until the device has it again.
  void unmap();

 private:
  const HostTransport& transport_;
  const device::Queue& queue_;
  bool for_writing_;
  std::vector<Region> runs_;
  std::vector<std::byte*> data_;  // [run]; null where it is empty
  std::vector<HostMessage> messages_;
};

/// From and to mapped memory, without any copy.
class MappedTransfer : public Transfer {
 public:
  explicit MappedTransfer(HostTransport& transport);

 private:
  void begin() override;
  [[nodiscard]] bool advance() override;
  void idle() override { exchange_.idle(); }
  void give_up() noexcept override;

  HostExchange exchange_;
  Mapping out_, in_;
};

}  // namespace fabricmark::transport
