#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "network/message_fault.hpp"

namespace fabricmark::dataflow {

/// The fault of a link: what leaves it in place of the words that its writer sends.
class CorruptedWords {
 public:
  /// For the next word, as DueFault says. After kDead nothing leaves any more.
  void strike(network::MessageFault fault) { due_.set(fault); }
  /// What leaves where this word is sent.
  [[nodiscard]] std::vector<std::vector<std::byte>> passing(std::span<const std::byte> word);

 private:
  network::DueFault due_{network::DueFault::Swapping::kOrder};
  bool is_dead_ = false;
  std::vector<std::byte> held_;  // which the next word overtakes
};

}  // namespace fabricmark::dataflow
