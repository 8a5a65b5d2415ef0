#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "fabric/transport.hpp"

namespace fabricmark::fabric {

/// Another transport with a fault in it, to prove that a benchmark finds it: the last message of every
/// exchange is not sent (lost), carries the message before it (late), or messages go to each other's
/// receivers (swapped); all messages are zeros (blank), or sender and receiver move only the first half of
/// their bytes (half). Of half, where other ranks have no fault, receivers want the whole message: the rest
/// of it is zeros.
class FaultyTransport : public Transport {
 public:
  FaultyTransport(std::unique_ptr<Transport> transport, const harness::Fault& fault)
      : transport_(std::move(transport)), kind_(fault.kind), is_everywhere_(!fault.rank) {}
  [[nodiscard]] std::string name() const override { return transport_->name(); }
  [[nodiscard]] std::unique_ptr<MessageBuffer> allocate(std::size_t bytes) override {
    return transport_->allocate(bytes);
  }
  void exchange(std::span<const Message> sends, std::span<const Message> receives) override;

 private:
  /// Has the messages leave from copies in which only the first `count(bytes)` bytes are not zero.
  template <typename Count>
  void send_copies(std::vector<Message>& messages, Count&& count);

  std::unique_ptr<Transport> transport_;
  harness::Fault::Kind kind_;
  bool is_everywhere_;
  std::unique_ptr<MessageBuffer> copies_;
  std::size_t copies_bytes_ = 0;
};

}  // namespace fabricmark::fabric
