#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/program_record.hpp"

/// What ranks of a program do, step by step, and what that takes where they share the cables of a network.
namespace fabricmark::simulate {

/// One step of a rank.
struct Op {
  enum class Kind : std::uint8_t {
    kSend,     ///< `amount` bytes to `peer` over `channel`; does not wait
    kReceive,  ///< the next message of `peer` over `channel`; does not wait
    kWait,     ///< for the send or receive in `slot`
    kWork,     ///< `amount` seconds
    kRepeat,   ///< the `peer` steps before this one, `amount` times in all
  };
  Kind kind = Kind::kWait;
  std::uint16_t slot = 0;  ///< of a send or receive until it was waited for
  std::int32_t peer = 0;
  double amount = 0;
  std::uint32_t channel = 0;  ///< as tag and communicator: messages of others are no match
  std::uint32_t part = 0;     ///< of the program, by which its time is told
  friend bool operator==(const Op&, const Op&) = default;
};

/// Of one rank. Loops may lie in each other.
using Program = std::vector<Op>;

/// In which turns of its loops a rank is.
class Loops {
 public:
  /// The step behind which the rank goes on after the kRepeat at this place.
  std::size_t behind(std::size_t place, const Op& repeat);

 private:
  struct Loop {
    std::size_t place = 0;  ///< of its kRepeat
    double left = 0;
  };
  std::vector<Loop> loops_;
};

/// Steps of a call of a collective, behind what a program has. Copies and combinations in a rank's memory
/// take no time: they are taken to keep up with the network. Throws Error (bad use) where more messages are
/// in progress than there are slots.
void append(Program& program, const std::vector<collectives::Step>& call);

/// The same steps, where some follow each other again and again as loops.
[[nodiscard]] Program with_loops(const Program& program);

/// A message to each of these ranks, which go in this order, and one received of each.
void append_exchange(Program& program, const std::vector<int>& peers, double bytes);

/// Neighbours on the circle of the ranks; those of a rank = row * columns + column on a grid that is closed
/// in both directions; the rank whose row is this one's column, on a grid with as many rows as columns.
/// All others on the circle, the next one first: at each time ranks send to different ones. Without the rank
/// itself.
[[nodiscard]] std::vector<int> ring_neighbours(int rank, int ranks);
[[nodiscard]] std::vector<int> grid_neighbours(int rank, int rows, int columns);
[[nodiscard]] std::vector<int> transposed_rank(int rank, int columns);
[[nodiscard]] std::vector<int> others_behind(int rank, int ranks);

/// A program of ranks 0, 1, ... whose places `ranks` has, over this channel and with the slots from the first
/// one on. Throws Error (bad use) where these are too few.
[[nodiscard]] Program among(Program program, const std::vector<int>& ranks, std::uint32_t channel = 0,
                            std::size_t first_slot = 0);

/// Messages that a program sends, their bytes in all, and the steps that it takes.
struct Sent {
  double steps = 0;
  double messages = 0;
  double bytes = 0;
  double longest = 0;
};
[[nodiscard]] Sent sent_by(const Program& program);

}  // namespace fabricmark::simulate
