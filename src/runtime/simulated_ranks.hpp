#pragma once

#include <memory>

#include "runtime/clock.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::runtime {

/// The ranks of another communicator, each with a simulated clock: a collective moves all clocks to the
/// latest, as no rank leaves it before all have come. Messages move none: those of transports are simulated
/// by these, and others are of what is not modelled. Both have to outlive it.
std::unique_ptr<Communicator> simulated_ranks(Communicator& ranks, SimulatedClock& clock);

}  // namespace fabricmark::runtime
