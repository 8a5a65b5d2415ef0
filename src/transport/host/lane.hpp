#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/memory.hpp"

namespace fabricmark::transport {

/// How far a message through shared staging memory has come, where both its ranks see it.
struct alignas(64) LaneState {
  std::atomic<std::uint64_t> read{0};     ///< chunks that the sender's device has left in their slots
  std::atomic<std::uint64_t> written{0};  ///< chunks that the receiver's device has taken from there
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "or it is no state of several processes");

/// A message in chunks, of which chunk k lies in slot k modulo `slots`; bytes.
struct LanePlan {
  std::size_t bytes = 0;
  std::size_t chunk = 0;
  std::size_t slots = 0;

  /// Of a message in pieces of `piece_bytes` (0: whole), in at most `most_slots` slots (0: one for each).
  static LanePlan of(std::size_t bytes, std::size_t piece_bytes, std::size_t most_slots);
  [[nodiscard]] std::size_t chunks() const { return (bytes + chunk - 1) / chunk; }
  [[nodiscard]] std::size_t staging_bytes() const { return slots * chunk; }
};

/// One side of a message through slots that both sides' devices reach: the sender's device reads chunks into
/// free slots, the receiver's writes from those that are full, and gives them back. Neither waits for the
/// other, so that reading, handing over and writing of different chunks overlap.
class Lane {
 public:
  enum class Side { kSends, kReceives };
  /// All must outlive the lane; its copies are given to `queue`, and begin when that is flushed.
  Lane(Side side, const Region& region, const LanePlan& plan, std::byte* slots, LaneState& state,
       const device::Queue& queue)
      : side_(side),
        region_(region),
        plan_(plan),
        slots_(slots),
        state_(&state),
        queue_(&queue),
        copies_(plan.slots) {}

  /// Tells the other side of the copies that have ended; true when there were any.
  bool hand_over();
  /// Begins the copy of one more chunk, if there is one whose slot is as it must be; true when it has.
  bool start_one();
  /// All chunks are where they belong, and the slots are free.
  [[nodiscard]] bool has_ended() const;
  /// Bytes that this side has handed over.
  [[nodiscard]] std::size_t bytes_done() const;
  /// Waits for its oldest copy in flight; false where there is none.
  bool wait_for_copy();
  [[nodiscard]] const LanePlan& plan() const { return plan_; }

 private:
  Side side_;
  Region region_;
  LanePlan plan_;
  std::byte* slots_;
  LaneState* state_;
  const device::Queue* queue_;
  device::Events copies_;    // [slot]; of what is in flight: neither side is ahead of the other by more
  std::size_t started_ = 0;  // chunks
  std::size_t done_ = 0;     // chunks
};

}  // namespace fabricmark::transport
