#include "network/event_core.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace fabricmark::network {

void EventCore::throw_passed(Time time) const {
  throw bad_use(fmt::format("an event at {} s comes after the clock of the fabric has reached {} s",
                            seconds(time), seconds(now_)),
                "start it no earlier than that clock says");
}

void EventCore::lay_later_aside() {
  beyond_.swap(heap_);
  heap_.clear();
  aside_ = beyond_.size();
  refill();
}

/// Takes the next events into the empty heap: a sorted list is a heap.
void EventCore::refill() {
  if (buckets_.empty()) {
    buckets_.resize(kBuckets);
    bucket_ = kBuckets;
  }
  const auto is_filled = [](const std::vector<Event>& bucket) { return !bucket.empty(); };
  auto next =
      std::find_if(buckets_.begin() + static_cast<std::ptrdiff_t>(bucket_), buckets_.end(), is_filled);
  if (next == buckets_.end() && beyond_.size() > kFew) {
    fill_buckets();
    next = buckets_.begin();  // where the earliest is
  }
  if (next == buckets_.end()) {
    heap_.swap(beyond_);
    horizon_ = kEndOfTime;
    bucket_ = kBuckets;
  } else {
    heap_.swap(*next);
    bucket_ = static_cast<std::size_t>(next - buckets_.begin()) + 1;
    const Time width = Time{1} << shift_;
    Time end = 0;
    const bool is_beyond = __builtin_mul_overflow(width, static_cast<Time>(bucket_), &end) ||
                           __builtin_add_overflow(end, base_, &end);
    horizon_ = is_beyond ? kEndOfTime : end;
  }
  aside_ -= heap_.size();
  std::ranges::sort(heap_, [](const Event& a, const Event& b) { return a < b; });
}

/// Spreads all beyond over the buckets, from the earliest to the latest.
void EventCore::fill_buckets() {
  const auto [first, last] = std::ranges::minmax(beyond_, {}, &Event::time);
  base_ = first.time;
  shift_ = 0;
  while (static_cast<std::uint64_t>(last.time - base_) >> shift_ >= kBuckets) ++shift_;
  for (const Event& event : beyond_) {
    buckets_[static_cast<std::uint64_t>(event.time - base_) >> shift_].push_back(event);
  }
  beyond_.clear();
}

}  // namespace fabricmark::network
