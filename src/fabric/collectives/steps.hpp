#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <deque>
#include <functional>

#include "fabric/collectives/moves.hpp"
#include "fabric/collectives/operation.hpp"

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

/// Views of the same elements. Those without data are never that: their copies take time.
inline bool is_same(const View& a, const View& b) { return a.data != nullptr && a.data == b.data; }

/// The pieces in which a call's messages are passed on.
class Segments {
 public:
  Segments(const Call& call, Type type)
      : elements_(call.count),
        size_(call.segment_bytes == 0
                  ? call.count
                  : std::clamp<std::size_t>(call.segment_bytes / bytes_of(type), 1, call.count)) {}

  [[nodiscard]] std::size_t count() const { return (elements_ + size_ - 1) / size_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] View of(const View& view, std::size_t index) const {
    return view.part(index * size_, std::min(size_, elements_ - index * size_));
  }

 private:
  std::size_t elements_;
  std::size_t size_;
};

/// Waits for what was started, the oldest first, so that no more than so many are under way.
class Window {
 public:
  Window(Moves& moves, std::size_t most) : moves_(moves), most_(std::max<std::size_t>(most, 1)) {}
  void add(Moves::Ticket ticket) {
    if (under_way_.size() == most_) wait_for_oldest();
    under_way_.push_back(ticket);
  }
  void finish() {
    while (!under_way_.empty()) wait_for_oldest();
  }

 private:
  void wait_for_oldest() {
    moves_.wait(under_way_.front());
    under_way_.pop_front();
  }

  Moves& moves_;
  std::size_t most_;
  std::deque<Moves::Ticket> under_way_;
};

/// Receives `pieces` from one rank, one behind the other, and sends the first `passed` of them on to another.
/// While one is sent the next is on its way here.
/// @param place where piece number k is received; that of number k + kPassing may be the same
inline constexpr std::size_t kPassing = 3;
void pass_on(Moves& moves, int from, int to, std::size_t pieces, std::size_t passed,
             const std::function<View(std::size_t)>& place);

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
/// + 1) of all; its other shares are spoilt. Both may be the same.
void reduce_shares(Moves& moves, const Ring& ring, const View& own, const View& result);
/// From shares as reduce_shares leaves them makes all shares on all ranks.
void gather_shares(Moves& moves, const Ring& ring, const View& result);

}  // namespace fabricmark::collectives
