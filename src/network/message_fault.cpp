#include "network/message_fault.hpp"

#include <algorithm>
#include <utility>

namespace fabricmark::network {

std::optional<MessageFault> message_fault(const runtime::Fault& fault) {
  using Kind = runtime::Fault::Kind;
  switch (fault.kind) {
    case Kind::kLost:
      return MessageFault::kLost;
    case Kind::kLate:
      return MessageFault::kLate;
    case Kind::kBlank:
      return MessageFault::kBlank;
    case Kind::kHalf:
      return MessageFault::kHalf;
    case Kind::kFlipped:
      return MessageFault::kFlipped;
    case Kind::kDead:
      return MessageFault::kDead;
    case Kind::kSwapped:  // with a target, of values
      return fault.target.empty() ? std::optional(MessageFault::kSwapped) : std::nullopt;
    default:
      return std::nullopt;
  }
}

void spoil(std::span<std::byte> bytes, std::span<const std::byte> before, MessageFault fault) {
  if (bytes.empty()) return;
  const std::size_t half = bytes.size() / 2;
  switch (fault) {
    case MessageFault::kLate:
      std::ranges::fill(bytes, std::byte{0});
      std::copy_n(before.begin(), std::min(before.size(), bytes.size()), bytes.begin());
      return;
    case MessageFault::kSwapped:
      std::swap_ranges(bytes.begin(), bytes.begin() + half, bytes.end() - half);
      return;
    case MessageFault::kHalf:
      std::ranges::fill(bytes.subspan(half), std::byte{0});
      return;
    case MessageFault::kBlank:
      std::ranges::fill(bytes, std::byte{0});
      return;
    case MessageFault::kFlipped:
      bytes.back() ^= std::byte{0x40};  // of a number that ends here a bit that no rounding hides
      return;
    case MessageFault::kLost:
    case MessageFault::kDead:
      return;
  }
}

std::optional<MessageFault> DueFault::strike(std::span<std::byte> bytes) {
  const std::vector<std::byte> before = std::exchange(before_, {bytes.begin(), bytes.end()});
  const std::optional<MessageFault> fault = std::exchange(fault_, std::nullopt);
  if (!fault) return fault;
  const bool is_senders = *fault == MessageFault::kLost || *fault == MessageFault::kDead ||
                          (*fault == MessageFault::kSwapped && swapping_ == Swapping::kOrder);
  if (is_senders) return fault;
  spoil(bytes, before, *fault);
  if (std::ranges::equal(bytes, before_)) fault_ = fault;  // it has changed nothing: the next one
  return fault;
}

}  // namespace fabricmark::network
