#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "network/time.hpp"

namespace fabricmark::network {

/// One time-out for each flow, which is mostly set again before it is due: that costs no place in the heap,
/// and what is no longer needed is never seen. Of those at one time the lowest flow comes first.
class FlowTimers {
 public:
  void add_flow() {
    due_.push_back(kEndOfTime);
    queued_.push_back(kEndOfTime);
  }
  [[nodiscard]] bool is_set(std::uint32_t flow) const { return due_[flow] != kEndOfTime; }
  /// In place of what was set.
  void set(std::uint32_t flow, Time at) {
    due_[flow] = at;
    if (at < queued_[flow]) queue(flow, at);
    settle();
  }
  void clear(std::uint32_t flow) {
    due_[flow] = kEndOfTime;
    settle();
  }
  [[nodiscard]] Time next_time() const { return heap_.empty() ? kEndOfTime : heap_.front().first; }
  /// The flow of the next time-out, which is then no longer set.
  std::uint32_t take() {
    const std::uint32_t flow = heap_.front().second;
    clear(flow);
    return flow;
  }

 private:
  using Entry = std::pair<Time, std::uint32_t>;

  void queue(std::uint32_t flow, Time at) {
    queued_[flow] = at;
    heap_.emplace_back(at, flow);
    std::ranges::push_heap(heap_, std::greater<>{});
  }
  /// Until the first entry is what it says.
  void settle() {
    while (!heap_.empty()) {
      const auto [time, flow] = heap_.front();
      const bool is_current = queued_[flow] == time;
      if (is_current && due_[flow] == time) return;
      std::ranges::pop_heap(heap_, std::greater<>{});
      heap_.pop_back();
      if (!is_current) continue;  // an earlier one was queued since
      queued_[flow] = kEndOfTime;
      if (due_[flow] != kEndOfTime) queue(flow, due_[flow]);
    }
  }

  std::vector<Entry> heap_;
  std::vector<Time> due_;     ///< by flow; kEndOfTime: not set
  std::vector<Time> queued_;  ///< by flow: the entry that counts, never later than it is due
};

}  // namespace fabricmark::network
