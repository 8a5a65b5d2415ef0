#include "base/watchdog.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/crash.hpp"
#include "base/error.hpp"

namespace fabricmark {

namespace {

using Seconds = std::chrono::duration<double>;

/// Of one thread, which alone writes it.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> beats{0};  ///< odd while it waits
  std::atomic<Awaiting> what{Awaiting::kDevice};
  std::atomic<bool> is_taken{true};
  int depth = 0;
  // The watching thread's:
  std::uint64_t seen = 0;
  Seconds waited{0};
};

/// Never destroyed: threads wait until the process has ended.
struct Watch {
  std::mutex mutex;
  std::list<Slot> slots;
  std::atomic<double> limit{0};
  std::once_flag started;
};

Watch& watch() {
  static auto* const one = new Watch;
  return *one;
}

/// The slot of this thread, for as long as it runs.
class OwnSlot {
 public:
  OwnSlot() {
    const std::scoped_lock lock(watch().mutex);
    std::list<Slot>& slots = watch().slots;
    const auto free = std::ranges::find_if(slots, [](const Slot& slot) { return !slot.is_taken; });
    slot_ = free != slots.end() ? &*free : &slots.emplace_back();
    slot_->is_taken = true;
  }
  ~OwnSlot() {
    if (slot_->beats % 2 == 0) slot_->is_taken = false;  // else somebody goes on waiting
  }
  OwnSlot(const OwnSlot&) = delete;
  OwnSlot& operator=(const OwnSlot&) = delete;
  [[nodiscard]] Slot& get() const { return *slot_; }

 private:
  Slot* slot_;
};

Slot& own_slot() {
  thread_local const OwnSlot own;
  return own.get();
}

void give_up(Awaiting what, double limit) {
  const char* const kernel = started_kernel();
  const std::string who = what == Awaiting::kEnd ? "closing the device and its runtime"
                          : kernel != nullptr    ? fmt::format("the kernel '{}'", kernel)
                                                 : "a command of the device";
  const std::string line = fmt::format(
      "{}: error: {} has not ended in {:g} s; check that its kernels end, or allow more with "
      "--kernel-timeout\n",
      program_invocation_short_name, who, limit);
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  end_without_result(static_cast<int>(ExitCode::kEnvironment));
}

void look_at(Slot& slot, Seconds passed, double limit) {
  const std::uint64_t beats = slot.beats.load(std::memory_order_acquire);
  if (beats % 2 == 0 || beats != std::exchange(slot.seen, beats)) {
    slot.waited = Seconds(0);
    return;
  }
  slot.waited += passed;
  const Awaiting what = slot.what.load(std::memory_order_relaxed);
  constexpr double kLongestEnd = 60;
  const double own_limit = what == Awaiting::kEnd ? std::min(limit, kLongestEnd) : limit;
  if (slot.waited.count() > own_limit) give_up(what, own_limit);
}

[[noreturn]] void keep_watch() {
  constexpr Seconds kBetweenLooks{0.1};
  constexpr Seconds kMost{0.3};  // that counts for one look: the process may have been stopped
  auto last = std::chrono::steady_clock::now();
  while (true) {
    std::this_thread::sleep_for(kBetweenLooks);
    const auto now = std::chrono::steady_clock::now();
    const Seconds passed = std::min(Seconds(now - std::exchange(last, now)), kMost);
    const std::scoped_lock lock(watch().mutex);
    for (Slot& slot : watch().slots) look_at(slot, passed, watch().limit);
  }
}

}  // namespace

void limit_waits(double seconds) {
  watch().limit = seconds;
  std::call_once(watch().started, [] { std::thread(keep_watch).detach(); });
}

Watched::Watched(Awaiting what) : slot_(&own_slot()) {
  Slot& slot = *static_cast<Slot*>(slot_);
  if (slot.depth++ > 0) return;
  slot.what.store(what, std::memory_order_relaxed);
  slot.beats.store(slot.beats.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

Watched::~Watched() {
  Slot& slot = *static_cast<Slot*>(slot_);
  if (--slot.depth > 0) return;
  slot.beats.store(slot.beats.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}  // namespace fabricmark
