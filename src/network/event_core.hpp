#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "network/time.hpp"

namespace fabricmark::network {

/// Something that happens at a modelled time. Of events at one time the lower device comes first, then the
/// lower port, then the lower sequence: the order says nothing of who scheduled first.
struct Event {
  Time time = 0;
  std::uint32_t device = 0;
  std::uint32_t port = 0;
  std::uint64_t sequence = 0;
  void (*handle)(void* owner, const Event& event) = nullptr;
  void* owner = nullptr;    ///< of the handler
  std::uint64_t value = 0;  ///< the handler's

  /// Of two at one time.
  static bool precedes(const Event& a, const Event& b) {
    if (a.device != b.device) return a.device < b.device;
    if (a.port != b.port) return a.port < b.port;
    return a.sequence < b.sequence;
  }
  friend bool operator<(const Event& a, const Event& b) {
    // Without branches but for ties: the heap asks for what nobody can foretell.
    return a.time == b.time ? precedes(a, b) : a.time < b.time;
  }
};

/// What is to happen, in its order. A heap of values: an event costs no memory of its own. Of many events
/// those that come later lie aside, sorted roughly by time, so that the heap stays small enough for the
/// caches.
class EventCore {
 public:
  /// Throws Error (2) for an event before `now`, or at the end of time.
  void schedule(const Event& event) {
    if (event.time < now_) throw_passed(event.time);
    if (event.time >= horizon_) {
      lay_aside(event);
      return;
    }
    heap_.push_back(event);
    rise(heap_.size() - 1, event);
    if (heap_.size() > kMany && horizon_ == kEndOfTime) lay_later_aside();
  }

  /// The time of the event that is handled, or was last.
  [[nodiscard]] Time now() const { return now_; }
  /// kEndOfTime where nothing is to happen.
  [[nodiscard]] Time next_time() const { return heap_.empty() ? kEndOfTime : heap_.front().time; }
  [[nodiscard]] std::size_t pending() const { return heap_.size() + aside_; }
  [[nodiscard]] std::uint64_t handled() const { return handled_; }

  /// Handles the first event, where that is before `end`; false where it is not.
  bool run_one(Time end) {
    if (next_time() >= end) return false;
    const Event event = pop();
    now_ = event.time;
    ++handled_;
    event.handle(event.owner, event);
    return true;
  }
  /// Handles all events before `end`, those that they schedule too.
  void run_until(Time end) {
    while (run_one(end)) continue;
  }
  /// Handles all that is to happen.
  void run() { run_until(kEndOfTime); }

 private:
  static constexpr std::size_t kChildren = 4;
  static constexpr std::size_t kMany = 4096;      ///< from here on events lie aside
  static constexpr std::size_t kFew = kMany / 4;  ///< so few need not
  static constexpr std::size_t kBuckets = 512;

  [[noreturn]] void throw_passed(Time time) const;

  // The hole at the top sinks to the bottom, and the last event rises from there: it belongs near the bottom,
  // so that this takes one comparison less for each level.
  Event pop() {
    const Event first = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0) {
      if (aside_ > 0) {
        refill();
      } else {
        horizon_ = kEndOfTime;  // what comes next goes into the heap
      }
      return first;
    }
    std::size_t place = 0;
    std::size_t child = 1;
    for (; child + kChildren <= size; child = kChildren * place + 1) {
      const std::size_t left = child + (heap_[child + 1] < heap_[child] ? 1 : 0);
      const std::size_t right = child + 2 + (heap_[child + 3] < heap_[child + 2] ? 1 : 0);
      const std::size_t least = heap_[right] < heap_[left] ? right : left;
      heap_[place] = heap_[least];
      place = least;
    }
    if (child < size) {
      std::size_t least = child;
      while (++child < size) least = heap_[child] < heap_[least] ? child : least;
      heap_[place] = heap_[least];
      place = least;
    }
    rise(place, last);
    return first;
  }

  /// Puts an event into the hole at `place`, or above it.
  void rise(std::size_t place, const Event& event) {
    while (place > 0) {
      const std::size_t parent = (place - 1) / kChildren;
      if (!(event < heap_[parent])) break;
      heap_[place] = heap_[parent];
      place = parent;
    }
    heap_[place] = event;
  }

  void lay_aside(const Event& event) {
    if (event.time == kEndOfTime) throw_beyond_clock();
    const auto bucket = static_cast<std::uint64_t>(event.time - base_) >> shift_;
    (bucket < kBuckets ? buckets_[bucket] : beyond_).push_back(event);
    ++aside_;
  }
  void lay_later_aside();
  void refill();
  void fill_buckets();

  std::vector<Event> heap_;    ///< all before the horizon, and never empty while something is pending
  Time horizon_ = kEndOfTime;  ///< what comes from here on lies aside
  std::size_t aside_ = 0;      ///< how many do
  std::vector<std::vector<Event>> buckets_;  ///< by time from `base_` on, 2^shift_ each
  std::vector<Event> beyond_;                ///< later than all buckets
  std::size_t bucket_ = 0;                   ///< the first one that is not in the heap yet
  Time base_ = 0;
  unsigned shift_ = 0;
  Time now_ = 0;
  std::uint64_t handled_ = 0;
};

}  // namespace fabricmark::network
