#pragma once

#include <memory>
#include <utility>

#include "fabric/transport.hpp"

namespace fabricmark::fabric {

/// Another transport with a fault in it, to prove that a benchmark finds it: the last message of every
/// exchange is not sent (lost), carries the message before it (late), or messages go to each other's
/// receivers (swapped).
class FaultyTransport : public Transport {
 public:
  FaultyTransport(std::unique_ptr<Transport> transport, harness::Fault::Kind kind)
      : transport_(std::move(transport)), kind_(kind) {}
  [[nodiscard]] std::string name() const override { return transport_->name(); }
  [[nodiscard]] std::unique_ptr<MessageBuffer> allocate(std::size_t bytes) override {
    return transport_->allocate(bytes);
  }
  void exchange(std::span<const Message> sends, std::span<const Message> receives) override;

 private:
  std::unique_ptr<Transport> transport_;
  harness::Fault::Kind kind_;
};

}  // namespace fabricmark::fabric
