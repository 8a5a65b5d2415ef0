#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "runtime/fault.hpp"

namespace fabricmark::network {

/// What happens to a word of a link, or to a message of an engine.
enum class MessageFault {
  kLost,     ///< it does not come
  kLate,     ///< what came before it comes again
  kSwapped,  ///< words: it comes behind the next one; messages: their halves change places
  kHalf,     ///< its second half is zeros
  kBlank,    ///< all of it is
  kFlipped,  ///< one bit of it is another
  kDead,     ///< nor anything behind it: the link is dead, or the device
};

/// That of a command line; none where its fault is of values, steps or ranks.
std::optional<MessageFault> message_fault(const runtime::Fault& fault);
inline std::optional<MessageFault> message_fault(const std::optional<runtime::Fault>& fault) {
  return fault ? message_fault(*fault) : std::nullopt;
}

/// Changes what is sent, in place; `before`: what was sent before it. Nothing for faults that change no
/// bytes.
void corrupt(std::span<std::byte> bytes, std::span<const std::byte> before, MessageFault fault);

/// A fault that waits for what one sender sends: it strikes the next of it, or, where it changes bytes, the
/// first in which that shows.
class DueFault {
 public:
  /// What becomes of kSwapped: halves change places here, or the sender sends in another order.
  enum class Swapping { kHalves, kOrder };

  explicit DueFault(Swapping swapping) : swapping_(swapping) {}
  /// None: what was due is not any more.
  void set(std::optional<MessageFault> fault) { fault_ = fault; }
  /// To be called for all that is sent. The fault that strikes it, which has changed its bytes, or which its
  /// sender has to make: kLost, kDead, and kSwapped of the order.
  [[nodiscard]] std::optional<MessageFault> strike(std::span<std::byte> bytes);

 private:
  Swapping swapping_;
  std::optional<MessageFault> fault_;
  std::vector<std::byte> before_;  // as its sender meant it
};

}  // namespace fabricmark::network
