#pragma once

#include <cstddef>

#include "fabric/collectives/operation.hpp"

namespace fabricmark::collectives {

/// What moves take, in seconds and bytes per second.
///
/// The model is that of Hockney (1994) which Thakur, Rabenseifner and Gropp, "Optimization of Collective
/// Communication Operations in MPICH" (2005), take for each algorithm: a message of m bytes takes a + m b.
/// Here a is issue + message, and b is one by the rate. Added are devices that pass messages on, and links of
/// a ring or a torus that several messages share.
struct Costs {
  double issue_seconds = 0;             ///< of a rank, for each message that it starts
  double message_seconds = 0;           ///< from then until its first byte is at a neighbour
  double hop_seconds = 0;               ///< more for each device that passes it on
  double bytes_per_second = 0;          ///< of one link, in each direction
  double copy_bytes_per_second = 0;     ///< in the memory of a rank
  double combine_bytes_per_second = 0;  ///< bytes of the result
  std::size_t segment_bytes = 0;        ///< as Call's
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
  /// Every rank sends one to the rank so far behind it (or before): they share links.
  [[nodiscard]] double all(int distance, double bytes) const;
  /// The same where the receiver combines what comes, as it comes.
  [[nodiscard]] double alone_combining(int distance, double bytes) const;
  [[nodiscard]] double all_combining(int distance, double bytes) const;

  [[nodiscard]] double copy(double bytes) const { return bytes / costs_.copy_bytes_per_second; }
  [[nodiscard]] double move(double bytes) const { return bytes / costs_.bytes_per_second; }
  [[nodiscard]] double combine(double bytes) const { return bytes / costs_.combine_bytes_per_second; }
  /// Of the way to the farthest rank, beyond a message to a neighbour.
  [[nodiscard]] double farthest() const;

  /// One message to or from each other rank passes the links of a rank.
  [[nodiscard]] double at_root() const;
  /// From when a rank begins with such messages until the first byte of the farthest has come.
  [[nodiscard]] double to_farthest() const { return costs_.message_seconds + farthest(); }
  /// Links by which a rank sends at the same time.
  [[nodiscard]] int sides() const;
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

  Costs costs_;
  Problem problem_;
};

}  // namespace fabricmark::collectives
