#pragma once

#include <cstdint>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/operation.hpp"

namespace fabricmark::collectives {

/// One move of a rank.
struct Step {
  enum class Kind : std::uint8_t { kSend, kReceive, kReceiveAndCombine, kWait, kCopy, kCombine };
  Kind kind = Kind::kWait;
  int peer = 0;              ///< of a message
  Moves::Ticket ticket = 0;  ///< of a message, or of what is waited for: counted from 0 on by each rank
  double bytes = 0;
};

/// What one rank of a call does, move by move: the program is run without data.
[[nodiscard]] std::vector<Step> record(const Algorithm& algorithm, const Problem& problem, int rank,
                                       std::size_t segment_bytes);

}  // namespace fabricmark::collectives
