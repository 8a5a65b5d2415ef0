#pragma once

#include <cstddef>
#include <limits>

#include "fabric/collectives/operation.hpp"

namespace fabricmark::collectives {

/// What moves take, in seconds and bytes per second.
///
/// The model is that of Hockney (1994) which Thakur, Rabenseifner and Gropp, "Optimization of Collective
/// Communication Operations in MPICH" (2005), take for each algorithm: a message of m bytes takes a + m b.
/// Here a is issue + message, and b is one by the rate. Added are devices that pass messages on, links of a
/// ring or a torus that several messages share, and what an engine has: headers, the copy out of a receive
/// buffer and the way of an answer. python/fabricmark/models/_collective_prices.py has the same forms.
struct Costs {
  double issue_seconds = 0;             ///< of a rank, for each message that it starts
  double message_seconds = 0;           ///< from then until its first byte is at a neighbour
  double hop_seconds = 0;               ///< more for each device that passes it on
  double bytes_per_second = 0;          ///< of one link, in each direction
  double copy_bytes_per_second = 0;     ///< in the memory of a rank
  double combine_bytes_per_second = 0;  ///< bytes of the result
  std::size_t segment_bytes = 0;        ///< as Call's

  double word_bytes = 0;           ///< links and memory move whole words; 0: bytes
  double header_bytes = 0;         ///< of each message
  double packet_bytes = 0;         ///< the most payload of a packet; 0: a message is one
  double packet_header_bytes = 0;  ///< of each packet
  /// Out of a receive buffer, once a message has come.
  double store_bytes_per_second = std::numeric_limits<double>::infinity();
  double copy_seconds = 0;           ///< of each copy beside its bytes; `message_seconds` has one
  bool combines_as_it_comes = true;  ///< else once a message has come
  double leaving_seconds = 0;        ///< until a root may start another message in place of one
  double answer_seconds = 0;         ///< until a sender hears that the last byte has come
  /// Messages of so many bytes share a link in turns; shorter ones pass it one behind the other.
  std::size_t turn_bytes = std::numeric_limits<std::size_t>::max();
};

/// What is asked for: `count` elements of Call are `bytes`.
struct Problem {
  Operation operation = Operation::kBarrier;
  int ranks = 1;
  std::size_t bytes = 0;
  Shape shape{};
  ReceiveBuffers buffers{};
};

/// Throws Error (bad use) for rates that are not positive, negative times, and a torus of another size.
void check(const Costs& costs, const Problem& problem);

/// The time of single steps of one problem, in seconds, of which algorithms make up theirs.
class Prices {
 public:
  Prices(const Costs& costs, const Problem& problem);

  [[nodiscard]] int ranks() const { return problem_.ranks; }
  [[nodiscard]] double bytes() const { return static_cast<double>(problem_.bytes); }
  [[nodiscard]] const Shape& shape() const { return problem_.shape; }
  [[nodiscard]] std::size_t receive_buffers() const { return problem_.buffers.count; }
  /// Receive buffers that so many messages of a rank's elements need, of so many times (or parts) of them.
  [[nodiscard]] std::size_t buffers(int messages, double times = 1) const;
  /// The same of pieces that come to a rank from so many others, as it passes them on.
  [[nodiscard]] std::size_t buffers_of_pieces(std::size_t pieces, double piece_bytes, int senders = 1) const;
  [[nodiscard]] const Costs& costs() const { return costs_; }

  /// One message to the rank so far behind, while no other needs its way.
  [[nodiscard]] double alone(int distance, double bytes) const;
  /// Every rank sends one to the rank so far behind it (or before): they share links, and wait for both ends.
  [[nodiscard]] double all(int distance, double bytes) const;
  /// The same where the receiver combines what comes.
  [[nodiscard]] double alone_combining(int distance, double bytes) const;
  [[nodiscard]] double all_combining(int distance, double bytes) const;
  /// How much later than the receiver of such a message its sender hears that it has come.
  [[nodiscard]] double end(double bytes) const;

  /// In a rank's memory, over a link, out of a receive buffer, of two operands.
  [[nodiscard]] double copy(double bytes) const;
  [[nodiscard]] double move(double bytes) const;
  [[nodiscard]] double store(double bytes) const;
  [[nodiscard]] double combine(double bytes) const;

  /// One message to or from each other rank passes the links of a rank.
  [[nodiscard]] double at_root() const;
  /// From when a rank begins with such messages until the first byte of the farthest has come.
  [[nodiscard]] double to_farthest() const;
  /// The root sends a message to each rank.
  [[nodiscard]] double from_root() const;
  /// Links by which a rank sends at the same time; of a full mesh of circuits one to each other.
  [[nodiscard]] int sides() const;
  /// Whether long messages to or from one rank share its link.
  [[nodiscard]] bool takes_turns() const;
  /// In which a root starts its messages, beyond the first: Call's `fan` are under way at a time.
  [[nodiscard]] int turns() const;
  /// Pieces in which a message is passed on, at least one, and the bytes of one.
  [[nodiscard]] double segments() const;
  [[nodiscard]] double segment() const { return bytes() / segments(); }

 private:
  struct Way {
    int hops = 1;     ///< cables, or one over a switch
    int sharing = 1;  ///< messages over the same link where all ranks send so far
  };
  [[nodiscard]] Way way(int distance) const;
  [[nodiscard]] double start(const Way& way) const;
  [[nodiscard]] double combined(double moving, double bytes) const;
  /// In whole words.
  [[nodiscard]] double whole(double bytes) const;

  Costs costs_;
  Problem problem_;
};

}  // namespace fabricmark::collectives
