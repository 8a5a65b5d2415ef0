#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "base/interface.hpp"
#include "board/dataflow/kernel.hpp"
#include "network/event_core.hpp"

namespace fabricmark::dataflow {

/// Something that is decided in the order of modelled time.
class Decision : public Interface {
 public:
  virtual void decide(Time now) = 0;
};

/// When a decision is due; of those of one time a device, a port and a sequence say which is first, and never
/// the wall clock.
struct Due {
  Time time = 0;
  int device = 0;
  int port = 0;
  std::uint64_t sequence = 0;
  friend auto operator<=>(const Due&, const Due&) = default;
};

/// Ports of decisions: what arrives over links comes first, then what kernels ask, then the ends of cycles.
inline constexpr int kFirstAsking = 1 << 16;
inline constexpr int kFirstEnding = 1 << 30;

/// Runs the kernels of some devices, one at a time, by the one thread that calls `run`.
class Worker {
 public:
  /// With a seed, kernels that are ready run in an order that is drawn, else in turn.
  explicit Worker(std::size_t stack_bytes, std::optional<std::uint64_t> seed);

  [[nodiscard]] Stacks& stacks() { return stacks_; }
  void make_ready(Kernel& kernel) { ready_.push_back(&kernel); }
  /// A kernel that computes for long.
  void put_off(Kernel& kernel) { long_.push_back(&kernel); }
  /// Those that were put off, for whoever runs them to their ends, and then tells.
  [[nodiscard]] std::vector<Kernel*> take_long() { return std::exchange(long_, {}); }
  void note_ended(Kernel& kernel) { ended_.push_back(&kernel); }
  /// By the kernel that runs: until all that happens before its clock has been decided.
  void wait_until_known(Kernel& kernel);
  void decide_at(const Due& due, Decision& decision);
  /// The same for what will mostly not be needed, such as a time-out: behind all else of its time. Nobody
  /// waits for what is cancelled.
  void alarm_at(const Due& due, Decision& decision) { alarms_.emplace(due, &decision); }
  void cancel_alarm(const Due& due) { alarms_.erase(due); }

  /// Until no kernel is ready and nothing is due before `horizon`. Once a kernel has ended nothing more is
  /// decided: its host may act before.
  void run(Time horizon);
  /// Of what is decided, or was last.
  [[nodiscard]] Time now() const { return due_.now(); }
  [[nodiscard]] Time next_due() const { return std::min(due_.next_time(), next_alarm()); }
  /// Those that ended and were not forgotten since.
  [[nodiscard]] const std::vector<Kernel*>& ended() const { return ended_; }
  void forget_ended() { ended_.clear(); }

 private:
  Kernel* next_ready();
  /// False where nothing is due before `horizon`.
  bool decide_one(Time horizon);
  [[nodiscard]] Time next_alarm() const {
    return alarms_.empty() ? network::kEndOfTime : alarms_.begin()->first.time;
  }

  Stacks stacks_;
  std::deque<Kernel*> ready_;
  std::vector<Kernel*> long_;
  std::optional<std::mt19937_64> draw_;
  network::EventCore due_;
  std::map<Due, Decision*> alarms_;
  std::vector<Kernel*> ended_;
};

/// The kernel that waits, and does so no more: what it waits for comes at `now`.
inline void wake(Kernel*& waiting, Time now) {
  Kernel& kernel = *std::exchange(waiting, nullptr);
  kernel.clock = std::max(kernel.clock, now);
  kernel.worker().make_ready(kernel);
}

}  // namespace fabricmark::dataflow
