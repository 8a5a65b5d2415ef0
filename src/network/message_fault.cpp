#include "network/message_fault.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fabricmark::network {

std::optional<MessageFault> message_fault(const runtime::Fault& fault) {
  using Kind = runtime::Fault::Kind;
  // By the numbers of MessageFault.
  constexpr std::array kOfMessages{Kind::kLost,  Kind::kLate,    Kind::kSwapped, Kind::kHalf,
                                   Kind::kBlank, Kind::kFlipped, Kind::kDead};
  if (fault.kind == Kind::kSwapped && !fault.target.empty()) return std::nullopt;  // of values
  const auto* const found = std::ranges::find(kOfMessages, fault.kind);
  if (found == kOfMessages.end()) return std::nullopt;
  return static_cast<MessageFault>(found - kOfMessages.begin());
}

void corrupt(std::span<std::byte> bytes, std::span<const std::byte> before, MessageFault fault) {
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
  corrupt(bytes, before, *fault);
  if (std::ranges::equal(bytes, before_)) fault_ = fault;  // it has changed nothing: the next one
  return fault;
}

}  // namespace fabricmark::network
