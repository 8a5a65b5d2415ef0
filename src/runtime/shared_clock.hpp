#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/communicator.hpp"

namespace fabricmark::runtime {

/// What a rank reads its time from.
struct ClockSource {
  std::string machine;  ///< sources of the same one tell the same time
  std::function<std::int64_t()> nanoseconds;
};

/// The monotonic clock of the kernel that runs this process: the same for all processes and threads on it.
ClockSource monotonic_clock();

/// One time for all ranks. On one machine all read the same clock. Machines are compared by barriers, which
/// nobody leaves before all have come: when the ranks of two machines come to some and leave them bounds how
/// far their clocks are apart, from both sides.
class SharedClock {
 public:
  /// Collective.
  explicit SharedClock(Communicator& ranks, ClockSource source = monotonic_clock());

  /// Compares the machines; to be called before and after what is timed, as clocks drift: between two
  /// comparisons the difference moves evenly. Collective; does nothing on one machine.
  void compare();
  /// When that was, in seconds that count alike on all ranks; `nanoseconds` as this rank's source tells them.
  [[nodiscard]] double seconds_at(std::int64_t nanoseconds) const;
  /// How far off the times of different machines can be [s]; 0 on one.
  [[nodiscard]] double spread() const { return spread_; }
  /// The same in words; nothing on one machine.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  struct Comparison {
    double at = 0;     ///< by the own clock
    double ahead = 0;  ///< of the first rank's
  };
  [[nodiscard]] double own_seconds(std::int64_t nanoseconds) const;

  Communicator& ranks_;
  ClockSource source_;
  std::vector<std::size_t> machine_of_;  ///< [rank]
  std::size_t machines_ = 1;
  std::int64_t origin_ = 0;  ///< of the machine, as its first rank read it
  std::vector<Comparison> comparisons_;
  double spread_ = 0;
};

}  // namespace fabricmark::runtime
