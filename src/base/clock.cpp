#include "base/clock.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"

namespace fabricmark {

namespace {

void require_time(double seconds) {
  if (std::isfinite(seconds) && seconds >= 0) return;
  throw environment_failure("a model took " + std::to_string(seconds) + " seconds",
                            "correct the cost of that operation");
}

}  // namespace

void SimulatedClock::advance(double seconds) {
  require_time(seconds);
  seconds_ += seconds;
}

void SimulatedClock::advance_to(double seconds) {
  require_time(seconds);
  seconds_ = std::max(seconds_, seconds);
}

void SimulatedClock::give_up(const std::string& why) {
  is_known_ = false;
  unknown_.insert(why);
}

void SimulatedClock::restart() {
  ++era_;
  seconds_ = 0;
  is_known_ = true;
}

}  // namespace fabricmark
