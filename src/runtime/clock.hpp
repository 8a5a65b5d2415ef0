#pragma once

#include <chrono>
#include <optional>

namespace fabricmark::runtime {

/// What a time says. Values of different kinds are never added, compared or divided by each other.
enum class TimeKind {
  kMeasured,  ///< this device, wall clock
  kEmulated,  ///< wall clock of a design that runs in software: it says nothing about hardware
  kModelled,  ///< computed: what a described system would take
};

/// "measured", "emulated" or "modelled", as result files say it.
const char* name_of(TimeKind kind);

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

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A clock that moves only when it is charged: whoever models what an operation would cost charges it for
/// each one, while that runs. It belongs to one rank, and is charged by one thread at a time.
class ChargedClock final : public Clock {
 public:
  /// Adds the seconds of one operation. Throws Error (environment) unless they are finite and not negative.
  void charge(double seconds);
  [[nodiscard]] double seconds() const override { return seconds_; }

 private:
  double seconds_ = 0;
};

/// What one timed part took. `modelled_seconds`: what was charged in it; empty where nothing was.
struct Elapsed {
  double wall_seconds = 0;
  std::optional<double> modelled_seconds{};
};

}  // namespace fabricmark::runtime
