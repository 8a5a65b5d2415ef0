#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

namespace fabricmark {

/// Tells the time of one rank. Only differences mean something.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual double seconds() const = 0;
};

/// The time that passes, from the clock's making on.
class WallClock final : public Clock {
 public:
  [[nodiscard]] double seconds() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  /// When it was made, by the clock of the system.
  [[nodiscard]] std::chrono::steady_clock::time_point start() const { return start_; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// What takes time on a simulated clock.
enum class CostKind { kLaunch, kKernel, kCopy, kMessage };

/// Is told what takes time on a simulated clock.
class ClockWitness {
 public:
  virtual ~ClockWitness() = default;
  /// `lane`: what does it, such as a kernel; `what`: more of it. Seconds since the clock's last restart.
  virtual void took(CostKind kind, const std::string& lane, const std::string& what, double from,
                    double to) = 0;
};

/// A clock that moves only when it is advanced: whoever models what an operation would cost advances it by
/// each one, while that runs. It belongs to one rank, and is simulated by one thread at a time.
class SimulatedClock final : public Clock {
 public:
  /// When something ends on this clock. It stays known when the clock restarts: what ended before a restart
  /// has ended at its zero.
  struct Moment {
    std::uint64_t era = 0;
    double seconds = 0;
  };

  /// Adds the seconds of one operation. Throws Error (environment) unless they are finite and not negative.
  void advance(double seconds);
  /// Waits until `seconds`; nothing happens where that is past. Throws as `advance`.
  void advance_to(double seconds);
  void advance_to(const Moment& moment) { advance_to(seconds_of(moment)); }
  [[nodiscard]] double seconds() const override { return seconds_; }
  /// Something runs whose time nothing says, `why`: until it restarts the clock does not tell what all took.
  void give_up(const std::string& why);
  [[nodiscard]] bool is_known() const { return is_known_; }
  /// The reasons so far, before restarts too.
  [[nodiscard]] const std::set<std::string>& unknown() const { return unknown_; }
  /// Begins again at zero, so that what is timed does not depend, in any bit, on what was simulated before.
  void restart();
  /// Null: nobody asks. It has to outlive its use.
  void set_witness(ClockWitness* witness) { witness_ = witness; }
  [[nodiscard]] ClockWitness* witness() const { return witness_; }
  [[nodiscard]] Moment at(double seconds) const { return {era_, seconds}; }
  [[nodiscard]] double seconds_of(const Moment& moment) const {
    return moment.era == era_ ? moment.seconds : 0;
  }

 private:
  std::uint64_t era_ = 0;
  double seconds_ = 0;
  bool is_known_ = true;
  std::set<std::string> unknown_;
  ClockWitness* witness_ = nullptr;
};

}  // namespace fabricmark
