#include "base/modelled_time.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/error.hpp"

namespace fabricmark::modelled {

void throw_beyond_clock() {
  throw bad_use(fmt::format("the modelled time passes {:.0f} s, where its clock ends", seconds(kEndOfTime)),
                "model fewer or shorter steps, or smaller latencies");
}

Time from_seconds(double seconds) {
  if (!(seconds >= 0)) {
    throw bad_use(fmt::format("{} s is no modelled time", seconds), "use a number of seconds from 0");
  }
  const double ticks = std::round(seconds * kTicksPerSecond);
  // kEndOfTime as a double is the next power of two, which is beyond the range.
  if (ticks >= static_cast<double>(kEndOfTime)) throw_beyond_clock();
  return static_cast<Time>(ticks);
}

Time period(double hertz) {
  if (!(hertz > 0) || std::isinf(hertz)) {
    throw bad_use(fmt::format("invalid frequency: {} Hz", hertz), "use a frequency above 0");
  }
  return from_seconds(1 / hertz);
}

Time transfer_time(double bytes, double bytes_per_second) {
  if (!(bytes_per_second > 0)) {
    throw bad_use(fmt::format("{} B/s carries nothing", bytes_per_second), "use a rate above 0");
  }
  return from_seconds(bytes / bytes_per_second);
}

}  // namespace fabricmark::modelled
