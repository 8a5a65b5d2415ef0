#pragma once

#include <compare>
#include <cstddef>
#include <limits>

#include "collectives/curve.hpp"
#include "collectives/operation.hpp"

namespace fabricmark::collectives {

/// What moves take, in seconds and bytes per second, with which programs are replayed (replay.hpp).
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
  double answer_seconds = 0;         ///< until a sender hears that the last byte has come
  /// Messages to or from several ranks that share a link alternate after so many bytes.
  std::size_t turn_bytes = std::numeric_limits<std::size_t>::max();
  bool leaves_in_turns = true;  ///< also from their sender; else it sends each as a whole
  /// What a message on a link, a copy and a combination take in place of what is said above, where they are
  /// there: of bytes without header.
  Curve moving{};
  Curve copying{};
  Curve combining{};
  auto operator<=>(const Costs&) const = default;
};

/// What is asked for: `count` elements of Call are `bytes`.
struct Problem {
  Operation operation = Operation::kBarrier;
  int ranks = 1;
  std::size_t bytes = 0;
  Shape shape{};
  ReceiveBuffers buffers{};
  auto operator<=>(const Problem&) const = default;
};

/// Throws Error (bad use) for rates that are not positive, negative times, and a torus of another size.
void check(const Costs& costs, const Problem& problem);

/// What single steps of one problem take and need.
class CostModel {
 public:
  CostModel(const Costs& costs, const Problem& problem);

  [[nodiscard]] int ranks() const { return problem_.ranks; }
  [[nodiscard]] double bytes() const { return static_cast<double>(problem_.bytes); }
  [[nodiscard]] const Shape& shape() const { return problem_.shape; }
  [[nodiscard]] std::size_t receive_buffers() const { return problem_.buffers.count; }
  /// Receive buffers that so many messages of a rank's elements need, of so many times (or parts) of them.
  [[nodiscard]] std::size_t buffers(int messages, double times = 1) const;
  /// The same of pieces that come to a rank from so many others, as it passes them on.
  [[nodiscard]] std::size_t buffers_of_pieces(std::size_t pieces, double piece_bytes, int senders = 1) const;

  /// Seconds in a rank's memory, over a link, out of a receive buffer, of two operands.
  [[nodiscard]] double copy(double bytes) const;
  [[nodiscard]] double move(double bytes) const;
  [[nodiscard]] double store(double bytes) const;
  [[nodiscard]] double combine(double bytes) const;
  /// Of a message on a link until another may have its turn.
  [[nodiscard]] double turn() const;
  /// Pieces in which a message is passed on, at least one, and the bytes of one.
  [[nodiscard]] double segments() const;
  [[nodiscard]] double segment() const { return bytes() / segments(); }

 private:
  /// Of so many bytes and the headers of their packets on a link.
  [[nodiscard]] double wire(double sent) const;
  /// In whole words.
  [[nodiscard]] double whole(double bytes) const;

  Costs costs_;
  Problem problem_;
};

}  // namespace fabricmark::collectives
