#pragma once

#include <chrono>

namespace fabricmark {

/// Seconds of the host's steady clock, since a moment that is the same for all its processes.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace fabricmark
