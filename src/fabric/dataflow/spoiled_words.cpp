#include "fabric/dataflow/spoiled_words.hpp"

#include <utility>

namespace fabricmark::dataflow {

std::vector<std::vector<std::byte>> SpoiledWords::passing(std::span<const std::byte> word) {
  using fabric::MessageFault;
  std::vector<std::byte> sent(word.begin(), word.end());
  const std::vector<std::byte> before = std::exchange(before_, sent);
  if (is_dead_) return {};
  const std::optional<MessageFault> fault = std::exchange(next_, std::nullopt);
  if (fault == MessageFault::kDead) {
    is_dead_ = true;
    return {};
  }
  if (fault == MessageFault::kLost) return {};
  if (fault == MessageFault::kSwapped) {
    held_ = std::move(sent);
    return {};
  }
  if (fault) {
    fabric::spoil(sent, before, *fault);
    if (sent == before_) next_ = fault;  // it has changed nothing: the next word
  }
  if (held_.empty()) return {std::move(sent)};
  return {std::move(sent), std::exchange(held_, {})};
}

}  // namespace fabricmark::dataflow
