#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/communicator.hpp"
#include "runtime/modelled_timeline.hpp"

namespace fabricmark::runtime {

/// Time added inside each timed region, to prove that a comparison finds it: seconds, or a share of the
/// part's time.
struct Delay {
  double seconds = 0;
  double share = 0;
};

/// Reads "0.001" (seconds) or "10%". Throws Error (bad use) otherwise.
Delay parse_delay(const std::string& text);

/// Seconds of each timed region in each counted repetition, on this rank.
struct Samples {
  std::vector<std::string> names;                     ///< in the order of the first repetition
  std::vector<std::vector<double>> seconds;           ///< [name][repetition], by the wall clock
  std::vector<std::vector<double>> modelled_seconds;  ///< [name][repetition], 0 where nothing was simulated
  /// [name][repetition]: when the part began, by the same clock; empty for parts that another clock timed.
  std::vector<std::vector<double>> starts;
  std::vector<std::vector<double>> times;  ///< [name][repetition]: of how many in a row a sample is the mean
  std::int64_t zero_nanoseconds = 0;       ///< of that clock, by the system's monotonic one
  /// [name][repetition][place], by the wall clock; empty but for parts of `time_each`, when these are kept.
  std::vector<std::vector<std::vector<double>>> inner_seconds;

  /// Whether the simulated clock moved in any part.
  [[nodiscard]] bool are_modelled() const;
};

/// The stopwatch of a repetition. Every part starts and ends with a barrier, in which a failed rank shows: a
/// rank that is done waits, so that what it does next, untimed, slows none on a device that they share.
class TimedRegions {
 public:
  /// `simulated`: the clock of this rank whose time is modelled, which starts anew with each part; null where
  /// nothing is. It has to outlive this.
  TimedRegions(Communicator& ranks, std::optional<Delay> delay, SimulatedClock* simulated = nullptr)
      : ranks_(ranks), delay_(delay), clock_(simulated) {
    const auto zero = wall_.start().time_since_epoch();
    samples_.zero_nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(zero).count();
  }

  /// Runs and times `work`, which must wait for the device itself. Where it does the same thing `times` times
  /// in a row, because once is too short for the clock, the sample is that of one. Throws PeerFailure when
  /// another rank has failed.
  template <typename Work>
  Elapsed time(std::string_view name, Work&& work, std::size_t times = 1) {
    const Elapsed all = run(name, std::forward<Work>(work));
    const Elapsed one = record(name, all, times);
    ranks_.barrier();
    return one;
  }

  /// The same for a part that does `body(place)` for each place from 0 to count - 1, where each is a sample
  /// of its own when these are kept. That costs a look at the clock between two of them; else there is none.
  template <typename Body>
  Elapsed time_each(std::string_view name, std::size_t count, Body&& body) {
    if (!keeps_inner_) {
      return time(
          name,
          [&] {
            for (std::size_t place = 0; place < count; ++place) body(place);
          },
          count);
    }
    std::vector<double> ends(count);
    const Elapsed all = run(name, [&] {
      for (std::size_t place = 0; place < count; ++place) {
        body(place);
        ends[place] = wall_.seconds();
      }
    });
    const Elapsed one = record(name, all, count);
    record_inner(name, std::move(ends), start_ + all.wall_seconds);
    ranks_.barrier();
    return one;
  }

  /// Keeps a sample of a part whose seconds another clock tells, as a device's does for its events. It adds
  /// nothing to the time of all parts, and no rank knows when another one's was: it makes no rate of several.
  void keep(std::string_view name, double seconds);

  /// Runs `work` between two parts: what is not measured, and counts for no energy either.
  template <typename Work>
  void aside(Work&& work) {
    if (watch_) watch_(false);
    work();
    if (watch_) watch_(true);
  }
  /// The same within a part: its clocks stand still from when all ranks have come here until all go on.
  template <typename Work>
  void pause(Work&& work) {
    ranks_.barrier();
    const double wall = wall_.seconds();
    const double simulated = clock_ == nullptr ? 0 : clock_->seconds();
    ClockWitness* const witness = clock_ == nullptr ? nullptr : clock_->witness();
    if (clock_ != nullptr) clock_->set_witness(nullptr);
    aside(std::forward<Work>(work));
    ranks_.barrier();
    if (clock_ != nullptr) {
      clock_->set_witness(witness);
      paused_.modelled_seconds = *paused_.modelled_seconds + clock_->seconds() - simulated;
    }
    paused_.wall_seconds += wall_.seconds() - wall;
  }
  /// To be called with false when something begins that does not count, and with true when it has ended.
  void set_watch(std::function<void(bool)> watch) { watch_ = std::move(watch); }

  /// To be called at the start of each timed region, before its clock: fails a rank on purpose.
  void set_disturbance(std::function<void()> disturb) { disturb_ = std::move(disturb); }

  /// Has `time_each` keep the time of every place, not only their mean.
  void keep_inner_samples() { keeps_inner_ = true; }
  /// Has a timeline told of the counted parts. It has to outlive this; needs a simulated clock.
  void keep_timeline(ModelledTimeline& timeline) { timeline_ = &timeline; }
  /// Until this is called, parts are run but not kept (warm-up).
  void start_counting() { counting_ = true; }
  [[nodiscard]] const Samples& samples() const { return samples_; }
  /// Seconds of all counted parts so far, by the wall clock.
  [[nodiscard]] double total_seconds() const { return total_seconds_; }

 private:
  /// Both clocks over `work`, from a barrier on.
  template <typename Work>
  Elapsed run(std::string_view name, Work&& work) {
    ranks_.barrier();
    if (disturb_) disturb_();
    if (clock_ != nullptr) clock_->restart();
    if (timeline_ != nullptr && counting_) clock_->set_witness(timeline_);
    paused_ = {.wall_seconds = 0, .modelled_seconds = 0.0};
    start_ = wall_.seconds();
    work();
    if (delay_) wait();
    Elapsed all{wall_.seconds() - start_ - paused_.wall_seconds};
    if (clock_ != nullptr && clock_->is_known() && clock_->seconds() > 0)
      all.modelled_seconds = clock_->seconds() - *paused_.modelled_seconds;
    if (timeline_ != nullptr && counting_) end_in_timeline(name);
    return all;
  }
  [[nodiscard]] std::size_t place_of(std::string_view name);
  /// Keeps one of `times` that took `all` together, and returns it.
  Elapsed record(std::string_view name, const Elapsed& all, std::size_t times);
  /// `ends`: when each place was done; the last one's is `end`, so that all add up to the part.
  void record_inner(std::string_view name, std::vector<double> ends, double end);
  /// The next part comes after this one of the slowest rank.
  void end_in_timeline(std::string_view name);
  void wait() const;

  Communicator& ranks_;
  std::optional<Delay> delay_;
  SimulatedClock* clock_;
  WallClock wall_;
  double start_ = 0;  ///< of the part in progress
  Elapsed paused_;    ///< in it
  std::function<void(bool)> watch_;
  std::function<void()> disturb_;
  bool keeps_inner_ = false;
  bool counting_ = false;
  double total_seconds_ = 0;
  ModelledTimeline* timeline_ = nullptr;
  Samples samples_;
};

}  // namespace fabricmark::runtime
