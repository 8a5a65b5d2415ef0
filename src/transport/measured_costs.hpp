#pragma once

#include "collectives/costs.hpp"
#include "transport/transport_caller.hpp"

namespace fabricmark::collectives {

/// What a message, copies and reductions take over the caller's transport when all ranks do the same, each
/// the least of some tries on the slowest rank: in the model of Costs, where the rest costs nothing. For one
/// rank nothing does. Collective; the same on all ranks.
Costs measured_costs(TransportCaller& caller);

}  // namespace fabricmark::collectives
