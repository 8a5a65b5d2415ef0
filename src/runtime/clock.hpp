#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "base/clock.hpp"

namespace fabricmark::runtime {

/// What a time says. Values of different kinds are never added, compared or divided by each other.
enum class TimeKind {
  kMeasured,  ///< this device, wall clock
  kEmulated,  ///< wall clock of a design that runs in software: it says nothing about hardware
  kModelled,  ///< computed: what a described system would take
};

/// "measured", "emulated" or "modelled", as result files say it.
inline const char* name_of(TimeKind kind) {
  constexpr std::array kNames{"measured", "emulated", "modelled"};
  return kNames.at(static_cast<std::size_t>(kind));
}

using fabricmark::Clock;
using fabricmark::SimulatedClock;
using fabricmark::WallClock;

/// What one timed region took. `modelled_seconds`: what was simulated in it; empty where nothing was.
struct Elapsed {
  double wall_seconds = 0;
  std::optional<double> modelled_seconds{};
};

}  // namespace fabricmark::runtime
