#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "transport/transfer.hpp"

namespace fabricmark::transport {

class HostTransport;

/// Messages of a rank to itself that are sent and received in the same exchange, and so are no more than a
/// copy from one place of the device to another.
class OwnMessages {
 public:
  explicit OwnMessages(int rank) : rank_(rank) {}
  /// What of an exchange is to be copied, and the rest of it.
  struct Split {
    std::vector<Message> sends, receives;
    std::vector<Message> other_sends, other_receives;
  };
  /// To be called with each exchange, in their order. Nothing is to be copied where a message has no
  /// counterpart in the same exchange or may overlap with it, or an earlier one with its tag may still be
  /// waited for: then all go the way of other ranks' messages.
  Split split(std::span<const Message> sends, std::span<const Message> receives);

 private:
  int rank_;
  std::map<int, int> open_;  // [tag] sends that went the other way, less receives
};

/// Each message that is sent and the one that receives it, by tag in their order; as many as there are sends.
/// Empty where one has no counterpart of its length.
std::vector<std::pair<const Message*, const Message*>> message_pairs(std::span<const Message> sends,
                                                                     std::span<const Message> receives);

/// Such messages, copied from device memory to device memory.
class OwnTransfer : public Transfer {
 public:
  explicit OwnTransfer(const device::Queue& queue) : queue_(queue) {}

 private:
  void begin() override;
  [[nodiscard]] bool advance() override;
  void idle() override {}
  void give_up() noexcept override;

  const device::Queue& queue_;
};

}  // namespace fabricmark::transport
