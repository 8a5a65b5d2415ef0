#include "runtime/clock.hpp"

#include <cmath>
#include <string>

#include "base/error.hpp"

namespace fabricmark::runtime {

const char* name_of(TimeKind kind) {
  switch (kind) {
    case TimeKind::kMeasured:
      return "measured";
    case TimeKind::kEmulated:
      return "emulated";
    case TimeKind::kModelled:
      return "modelled";
  }
  return "unknown";
}

void ChargedClock::charge(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) {
    throw environment_failure("a model charged " + std::to_string(seconds) + " seconds",
                              "correct the cost of that operation");
  }
  seconds_ += seconds;
}

}  // namespace fabricmark::runtime
