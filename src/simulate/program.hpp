#pragma once

#include <cstdint>
#include <vector>

#include "collectives/program_record.hpp"

/// What ranks of a program do, step by step, and what that takes where they share the cables of a network.
namespace fabricmark::simulate {

/// One step of a rank.
struct Op {
  enum class Kind : std::uint8_t {
    kSend,     ///< `amount` bytes to `peer`; does not wait
    kReceive,  ///< the next message of `peer`; does not wait
    kWait,     ///< for the send or receive in `slot`
    kWork,     ///< `amount` seconds
    kRepeat,   ///< the `peer` steps before this one, `amount` times in all
  };
  Kind kind = Kind::kWait;
  std::uint16_t slot = 0;  ///< of a send or receive until it was waited for
  std::int32_t peer = 0;
  double amount = 0;
  friend bool operator==(const Op&, const Op&) = default;
};

/// Of one rank. Loops may lie in each other.
using Program = std::vector<Op>;

/// Steps of a call of a collective, behind what a program has. Copies and combinations in a rank's memory
/// take no time: they are taken to keep up with the network. Throws Error (bad use) where more messages are
/// under way than there are slots.
void append(Program& program, const std::vector<collectives::Step>& call);

/// The same steps, where some follow each other again and again as loops.
[[nodiscard]] Program with_loops(const Program& program);

/// A message to both neighbours on the circle of the ranks, and theirs received.
void append_ring_exchange(Program& program, int rank, int ranks, double bytes);

/// Messages that a program sends, and their bytes in all.
struct Sent {
  double messages = 0;
  double bytes = 0;
  double longest = 0;
};
[[nodiscard]] Sent sent_by(const Program& program);

}  // namespace fabricmark::simulate
