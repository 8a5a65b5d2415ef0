#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "network/message_fault.hpp"
#include "runtime/fault.hpp"
#include "transport/transport.hpp"

namespace fabricmark::transport {

/// Another transport with a fault in it, to prove that a benchmark finds it: the last message of every
/// exchange is not sent (lost), carries the message before it (late), or messages go to each other's
/// receivers (swapped), in all repetitions or in one; all messages are zeros (blank), have a bit
/// changed (flipped) or are not sent (dead), or sender and receiver
/// move only the first half of their bytes (half). Of half, where other ranks have no fault, receivers want
/// the whole message: the rest of it is zeros.
class FaultyTransport : public Transport {
 public:
  /// `repetition` is the one in progress; looked at where the fault is in one only.
  FaultyTransport(std::unique_ptr<Transport> transport, const runtime::Fault& fault,
                  const int* repetition = nullptr);
  [[nodiscard]] std::string name() const override { return transport_->name(); }
  [[nodiscard]] bool supports(device::MemorySpace from, device::MemorySpace to,
                              Operation operation) const override {
    return transport_->supports(from, to, operation);
  }
  [[nodiscard]] bool is_over_hosts() const override { return transport_->is_over_hosts(); }
  [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override {
    return transport_->allocate(bytes);
  }
  device::Event start(std::span<const Message> sends, std::span<const Message> receives,
                      const device::Events& after = {}) override;
  [[nodiscard]] std::unique_ptr<Steps> steps() override { return transport_->steps(); }

 private:
  /// Has the messages leave from copies with a fault that changes their bytes.
  void send_copies(std::vector<Message>& messages, const device::Events& after, network::MessageFault fault);

  std::unique_ptr<Transport> transport_;
  runtime::Fault::Kind kind_;
  bool is_everywhere_;
  std::optional<int> only_in_;
  const int* repetition_;
  std::unique_ptr<Memory> copies_;
  std::size_t copies_bytes_ = 0;
};

}  // namespace fabricmark::transport
