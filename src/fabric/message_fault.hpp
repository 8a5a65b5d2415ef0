#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "runtime/fault.hpp"

namespace fabricmark::fabric {

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

/// Changes what is sent, in place; `before`: what was sent before it. Nothing for faults that change no
/// bytes.
void spoil(std::span<std::byte> bytes, std::span<const std::byte> before, MessageFault fault);

}  // namespace fabricmark::fabric
