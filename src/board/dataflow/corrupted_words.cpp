#include "board/dataflow/corrupted_words.hpp"

#include <utility>

namespace fabricmark::dataflow {

std::vector<std::vector<std::byte>> CorruptedWords::passing(std::span<const std::byte> word) {
  using network::MessageFault;
  if (is_dead_) return {};
  std::vector<std::byte> sent(word.begin(), word.end());
  const std::optional<MessageFault> fault = due_.strike(sent);
  is_dead_ = fault == MessageFault::kDead;
  if (is_dead_ || fault == MessageFault::kLost) return {};
  if (fault == MessageFault::kSwapped) {
    held_ = std::move(sent);
    return {};
  }
  if (held_.empty()) return {std::move(sent)};
  return {std::move(sent), std::exchange(held_, {})};
}

}  // namespace fabricmark::dataflow
