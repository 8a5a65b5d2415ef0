#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

#include "collectives/costs.hpp"
#include "collectives/moves.hpp"
#include "collectives/operation.hpp"

/// What programs of moves have in common.
namespace fabricmark::collectives {

/// The rank so far behind another, or before it where `distance` is negative; up to `size` away.
inline int behind(int rank, int distance, int size) { return (rank + distance + size) % size; }

/// Part number `index` of parts of `count` elements.
inline View part_of(const View& view, int index, std::size_t count) {
  return view.part(static_cast<std::size_t>(index) * count, count);
}

/// One of `parts` that differ by an element at most, the longer ones first; empty ones where there are too
/// few elements.
inline View share_of(const View& view, int index, int parts) {
  const auto place = static_cast<std::size_t>(index);
  const std::size_t least = view.count / parts;
  const std::size_t longer = view.count % parts;
  return view.part(place * least + std::min(place, longer), least + (place < longer ? 1 : 0));
}

inline bool is_power_of_two(int ranks) { return std::has_single_bit(static_cast<unsigned>(ranks)); }

/// What several algorithms have for `is_meant_for` and `buffers`.
inline bool are_power_of_two(const Problem& problem) { return is_power_of_two(problem.ranks); }
/// All may have sent before the root receives.
inline std::size_t buffers_of_others(const CostModel& model) { return model.buffers(model.ranks() - 1); }
/// Of the longest message, half of all parts.
inline std::size_t buffers_of_half(const CostModel& model) { return model.buffers(1, model.ranks() / 2.0); }
inline std::size_t buffers_of_segments(const CostModel& model) {
  return model.buffers_of_pieces(static_cast<std::size_t>(model.segments()), model.segment());
}

/// Views of the same elements. Those without data are never that: their copies take time.
inline bool is_same(const View& a, const View& b) { return a.data != nullptr && a.data == b.data; }

/// The pieces in which a call's messages are passed on.
class Segments {
 public:
  Segments(const Call& call, Type type)
      : elements_(call.count),
        element_bytes_(bytes_of(type)),
        size_(call.segment_bytes == 0
                  ? call.count
                  : std::clamp<std::size_t>(call.segment_bytes / bytes_of(type), 1, call.count)) {}

  [[nodiscard]] std::size_t count() const { return (elements_ + size_ - 1) / size_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * element_bytes_; }
  [[nodiscard]] View of(const View& view, std::size_t index) const {
    return view.part(index * size_, std::min(size_, elements_ - index * size_));
  }

 private:
  std::size_t elements_;
  std::size_t element_bytes_;
  std::size_t size_;
};

/// Waits for what was started, the oldest first, so that no more than so many are in progress.
class Window {
 public:
  Window(Moves& moves, std::size_t most) : moves_(moves), most_(std::max<std::size_t>(most, 1)) {}
  /// @param ended called when it was waited for
  void add(Moves::Ticket ticket, std::function<void()> ended = {}) {
    if (in_flight_.size() == most_) wait_for_oldest();
    in_flight_.emplace_back(ticket, std::move(ended));
  }
  void finish() {
    while (!in_flight_.empty()) wait_for_oldest();
  }

 private:
  void wait_for_oldest() {
    moves_.wait(in_flight_.front().first);
    const auto ended = std::move(in_flight_.front().second);
    in_flight_.pop_front();
    if (ended) ended();
  }

  Moves& moves_;
  std::size_t most_;
  std::deque<std::pair<Moves::Ticket, std::function<void()>>> in_flight_;
};

/// Keeps pieces that one rank sends another, one behind the other, from filling its receive buffers: so many
/// may be there that it has not received, in three quarters of its buffers. Before it sends more its sender
/// waits for a word, a message without elements, which comes whenever two thirds of so many were received.
class Pacing {
 public:
  /// @param senders ranks that send the receiver pieces at the same time
  Pacing(const ReceiveBuffers& buffers, std::size_t pieces, std::size_t piece_bytes, std::size_t senders = 1)
      : pieces_(pieces), most_(pieces) {
    const std::size_t taken = buffers.needed(senders, piece_bytes);
    if (taken != 0) {
      const std::size_t room = buffers.count / taken;
      most_ = std::min(pieces, std::max<std::size_t>(1, room - room / 4 - (room % 4 == 0 ? 0 : 1)));
    }
    told_ = std::max<std::size_t>(1, most_ - most_ / 3);
  }
  /// Pieces that may be there.
  [[nodiscard]] std::size_t most() const { return most_; }
  [[nodiscard]] bool has_words() const { return most_ < pieces_; }
  /// Whether the sender of piece number `index` waits for a word before.
  [[nodiscard]] bool waits_before(std::size_t index) const {
    return index >= most_ && (index - most_) % told_ == 0;
  }
  /// Whether who has received it says a word.
  [[nodiscard]] bool tells_after(std::size_t index) const {
    return (index + 1) % told_ == 0 && index + 1 + most_ - told_ < pieces_;
  }

 private:
  std::size_t pieces_;
  std::size_t most_;
  std::size_t told_ = 1;
};

/// Of the segments of a call, from one rank to the next.
inline Pacing pacing_of(const Call& call, const Segments& segments) {
  return {call.buffers, segments.count(), segments.bytes()};
}

/// The two ends of such a way.
class PieceSends {
 public:
  /// @param most that are in progress at a time
  PieceSends(Moves& moves, int to, const Pacing& pacing, std::size_t most)
      : moves_(moves), to_(to), pacing_(pacing), in_flight_(moves, most) {}
  void add(const View& piece) {
    if (pacing_.waits_before(sent_++)) moves_.receive(to_, {});
    in_flight_.add(moves_.start_send(to_, piece));
  }
  void finish() { in_flight_.finish(); }

 private:
  Moves& moves_;
  int to_;
  Pacing pacing_;
  Window in_flight_;
  std::size_t sent_ = 0;
};
class PieceReceives {
 public:
  PieceReceives(Moves& moves, int from, const Pacing& pacing)
      : moves_(moves), from_(from), pacing_(pacing), words_(moves, 1) {}
  [[nodiscard]] Moves::Ticket start(const View& piece) { return moves_.start_receive(from_, piece); }
  /// The next one was received.
  void came() {
    if (pacing_.tells_after(received_++)) words_.add(moves_.start_send(from_, {}));
  }
  void finish() { words_.finish(); }

 private:
  Moves& moves_;
  int from_;
  Pacing pacing_;
  Window words_;
  std::size_t received_ = 0;
};

/// Receives `pieces`, one behind the other, and sends the first `passed` of them on. While some are sent the
/// next is on its way here.
/// @param place where piece number k is received; that of number k + `most` of `sends` + 2 may be the same
void pass_on(Moves& moves, PieceReceives& receives, PieceSends& sends, std::size_t pieces, std::size_t passed,
             const std::function<View(std::size_t)>& place);
/// Of parts that ranks of a ring pass on: sends in flight, and places that they need.
inline constexpr std::size_t kPassing = 2;
inline constexpr std::size_t kPlaces = kPassing + 2;

/// The ranks of a ring as one of them sees it, of two or more.
struct Ring {
  int place = 0;  ///< of this rank, from 0 on
  int size = 1;
  int next = 0;      ///< rank at the place behind
  int previous = 0;  ///< rank at the place before
};
[[nodiscard]] Ring ring_of(const Moves& moves);

/// Round a ring in two directions at once: a rank's place on the way from the root.
struct Branch {
  int distance = 0;  ///< from the root
  int length = 0;    ///< distance of the last rank
  int to_root = 0;   ///< neighbour
  int from_root = 0;
};
/// Ranks on the way behind the root, and on that before it: at most one less.
[[nodiscard]] inline int ranks_behind(int ranks) { return ranks / 2; }
[[nodiscard]] inline int ranks_before(int ranks) { return (ranks - 1) / 2; }
/// Of any rank but the root.
[[nodiscard]] Branch branch_of(const Moves& moves, int root);

/// Combines `own` of all ranks of a ring: `result`, of the same size, has afterwards the share number (place
/// + 1) of all; its other shares are corrupted. Both may be the same.
void reduce_shares(Moves& moves, const Ring& ring, const View& own, const View& result);
/// From shares as reduce_shares leaves them makes all shares on all ranks.
void gather_shares(Moves& moves, const Ring& ring, const View& result);

}  // namespace fabricmark::collectives
