#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "fabric/message_fault.hpp"

namespace fabricmark::dataflow {

/// The fault of a link: what leaves it in place of the words that its writer sends.
class SpoiledWords {
 public:
  /// The next word is struck, of faults that change bytes the next one in which that shows. After kDead
  /// nothing leaves any more.
  void strike(fabric::MessageFault fault) { next_ = fault; }
  /// What leaves where this word is sent.
  [[nodiscard]] std::vector<std::vector<std::byte>> passing(std::span<const std::byte> word);

 private:
  std::optional<fabric::MessageFault> next_;
  bool is_dead_ = false;
  std::vector<std::byte> before_;  // the last word that was sent
  std::vector<std::byte> held_;    // which the next one overtakes
};

}  // namespace fabricmark::dataflow
