#pragma once

#include <functional>

namespace fabricmark::microbench::omb {

/// Seconds of a computation, and of the looks in between.
struct Computed {
  double seconds = 0;  ///< both together
  double looks = 0;
};

/// Keeps the core busy for so many seconds, and looks `probes` times in between: a computation whose time is
/// known, where OMB multiplies matrices as often as it takes as long.
Computed compute(double seconds, int probes, const std::function<void()>& look);

}  // namespace fabricmark::microbench::omb
