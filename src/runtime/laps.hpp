#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/communicator.hpp"

namespace fabricmark::runtime {

/// Time added inside each timed part, to prove that a comparison finds it: seconds, or a share of the part's
/// time.
struct Delay {
  double seconds = 0;
  double share = 0;
};

/// Reads "0.001" (seconds) or "10%". Throws Error (bad use) otherwise.
Delay parse_delay(const std::string& text);

/// Seconds of each timed part in each counted repetition, on this rank.
struct Samples {
  std::vector<std::string> names;            ///< in the order of the first repetition
  std::vector<std::vector<double>> seconds;  ///< [name][repetition]
};

/// The stopwatch of a repetition. Every part starts and ends with a barrier, in which a failed rank shows: a
/// rank that is done waits, so that what it does next, untimed, slows none on a device that they share.
class Laps {
 public:
  using Clock = std::chrono::steady_clock;

  Laps(Communicator& ranks, std::optional<Delay> delay) : ranks_(ranks), delay_(delay) {}

  /// Runs and times `work`, which must wait for the device itself; returns the seconds. Where it does the
  /// same thing `times` times in a row, because once is too short for the clock, the sample is that of one.
  /// Throws PeerFailure when another rank has failed.
  template <typename Work>
  double time(std::string_view name, Work&& work, std::size_t times = 1) {
    ranks_.barrier();
    if (disturb_) disturb_();
    const Clock::time_point start = Clock::now();
    work();
    if (delay_) wait(start);
    const double all_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const double seconds = all_seconds / static_cast<double>(times);
    total_seconds_ += counting_ ? all_seconds : 0;
    record(name, seconds);
    ranks_.barrier();
    return seconds;
  }

  /// Runs `work` between two parts: what is not measured, and counts for no energy either.
  template <typename Work>
  void aside(Work&& work) {
    if (watch_) watch_(false);
    work();
    if (watch_) watch_(true);
  }
  /// To be called with false when something begins that does not count, and with true when it has ended.
  void set_watch(std::function<void(bool)> watch) { watch_ = std::move(watch); }

  /// To be called at the start of each timed part, before its clock: fails a rank on purpose.
  void set_disturbance(std::function<void()> disturb) { disturb_ = std::move(disturb); }

  /// Until this is called, parts are run but not kept (warm-up).
  void start_counting() { counting_ = true; }
  [[nodiscard]] const Samples& samples() const { return samples_; }
  /// Seconds of all counted parts so far.
  [[nodiscard]] double total_seconds() const { return total_seconds_; }

 private:
  void record(std::string_view name, double seconds);
  void wait(Clock::time_point start) const;

  Communicator& ranks_;
  std::optional<Delay> delay_;
  std::function<void(bool)> watch_;
  std::function<void()> disturb_;
  bool counting_ = false;
  double total_seconds_ = 0;
  Samples samples_;
};

}  // namespace fabricmark::runtime
