#pragma once

#include <cstdint>
#include <limits>

/// Modelled time: what clocks of the emulated fabric and timelines count. Wall time has no part in it.
namespace fabricmark::modelled {

/// Femtoseconds since the start of the modelled run: 2.5 hours fit, and a cycle of any clock of an FPGA is
/// told to less than a millionth.
using Time = std::int64_t;

inline constexpr double kTicksPerSecond = 1e15;
/// Later than anything that happens.
inline constexpr Time kEndOfTime = std::numeric_limits<Time>::max();

[[noreturn]] void throw_beyond_clock();

/// Seconds as time, to the nearest femtosecond. Throws Error (2) for what is negative, no number or beyond
/// the range.
Time from_seconds(double seconds);

/// Time in seconds.
inline double seconds(Time time) { return static_cast<double>(time) / kTicksPerSecond; }

/// One cycle of a clock. Throws Error (2) for a frequency that is not positive, or has no cycle in the range.
Time period(double hertz);

/// What so many bytes take at a rate, to the nearest femtosecond. Throws Error (2) as from_seconds does.
Time transfer_time(double bytes, double bytes_per_second);

/// `delay` (not negative) after `start`. Throws Error (2) beyond the range, kEndOfTime included: a clock
/// neither wraps nor stands still.
inline Time later(Time start, Time delay) {
  Time sum = 0;
  if (__builtin_add_overflow(start, delay, &sum) || sum == kEndOfTime) throw_beyond_clock();
  return sum;
}

/// `count` times `duration`, neither negative. Throws Error (2) beyond the range.
inline Time times(std::int64_t count, Time duration) {
  Time product = 0;
  if (__builtin_mul_overflow(count, duration, &product) || product == kEndOfTime) throw_beyond_clock();
  return product;
}

}  // namespace fabricmark::modelled
